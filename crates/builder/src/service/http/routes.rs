//! All routes in one table: what is served, and how it is described.

use std::sync::Arc;

use axum::routing::{MethodRouter, delete, get, post};

use super::{builds, devcontainers, images, jobs, plain, shapes};
use crate::service::app::App;
use crate::service::schema::Schema;

/// A route.
pub struct Route {
    /// The method, in small letters.
    pub method: &'static str,
    /// The path, with names in braces.
    pub path: &'static str,
    /// What it belongs to.
    pub tag: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Names in the query: whether each has to be there, and what it is.
    pub query: &'static [(&'static str, bool, &'static str)],
    /// The body.
    pub body: Option<Schema>,
    /// Answers by status.
    pub answers: Vec<(u16, Answer)>,
    /// Who serves it.
    pub handler: MethodRouter<Arc<App>>,
}

/// What an answer holds.
pub enum Answer {
    /// Nothing.
    Empty,
    /// JSON.
    Json(Schema),
    /// Text of this type.
    Text(&'static str),
    /// JSON, with a header that says when to come again.
    Later(Schema),
}

const IMAGE: &[(&str, bool, &str)] = &[
    ("registry", true, "Registry, as POST /build returned it"),
    ("name", true, "Repository"),
    ("tag", true, "Tag"),
];

const IMAGE_AND_PLATFORM: &[(&str, bool, &str)] = &[
    ("registry", true, "Registry, as POST /build returned it"),
    ("name", true, "Repository"),
    ("tag", true, "Tag"),
    (
        "platform",
        false,
        "Platform, os/arch[/variant]; linux/amd64 by default",
    ),
];

fn failures(statuses: &[u16]) -> Vec<(u16, Answer)> {
    let statuses = statuses.iter();
    statuses
        .map(|status| (*status, Answer::Json(shapes::error())))
        .collect()
}

fn plain_get(
    path: &'static str,
    tag: &'static str,
    about: &'static str,
    answer: Answer,
    handler: MethodRouter<Arc<App>>,
) -> Route {
    Route {
        method: "get",
        path,
        tag,
        about,
        query: &[],
        body: None,
        answers: vec![(200, answer)],
        handler,
    }
}

/// All of them.
pub fn all() -> Vec<Route> {
    let mut all = about_the_service();
    all.extend(about_images());
    all.extend(about_jobs());
    all
}

fn about_the_service() -> Vec<Route> {
    let health = || Answer::Json(shapes::health());
    let json = "application/json";
    let mut ready = plain_get(
        "/health/ready",
        "Health",
        "Whether builds can be taken: BuildKit is configured and answers",
        health(),
        get(builds::ready),
    );
    ready.answers.push((503, health()));
    let mut log_read = plain_get(
        "/logs/{id}",
        "Logs",
        "The output of a clone or build",
        Answer::Text("text/plain"),
        get(plain::log_read),
    );
    log_read.answers.extend(failures(&[400, 404]));
    let mut log_delete = Route {
        method: "delete",
        about: "Delete the output of a clone or build",
        handler: delete(plain::log_delete),
        ..plain_get(
            "/logs/{id}",
            "Logs",
            "",
            Answer::Empty,
            get(plain::log_read),
        )
    };
    log_delete.answers = vec![(204, Answer::Empty)];
    log_delete.answers.extend(failures(&[400, 404]));
    vec![
        plain_get(
            "/health/startup",
            "Health",
            "Whether it started",
            health(),
            get(plain::startup),
        ),
        plain_get(
            "/health/live",
            "Health",
            "Whether it lives",
            health(),
            get(plain::live),
        ),
        ready,
        plain_get(
            "/config",
            "Configuration",
            "The configuration, without secrets",
            Answer::Json(shapes::config()),
            get(plain::config),
        ),
        plain_get(
            "/metrics",
            "Health",
            "Counters",
            Answer::Text("text/plain"),
            get(plain::metrics),
        ),
        log_read,
        log_delete,
        plain_get(
            "/documentation/json",
            "Configuration",
            "This description",
            Answer::Text(json),
            get(plain::openapi_json),
        ),
        plain_get(
            "/documentation/yaml",
            "Configuration",
            "This description in YAML",
            Answer::Text("application/yaml"),
            get(plain::openapi_yaml),
        ),
    ]
}

fn about_images() -> Vec<Route> {
    let build_failure = |status| (status, Answer::Json(shapes::build_error()));
    let mut read = plain_get(
        "/image",
        "Images",
        "Whether a registry has an image",
        Answer::Json(shapes::image()),
        get(images::image_read),
    );
    read.query = IMAGE;
    read.answers.extend(failures(&[400, 502]));
    let mut delete_image = Route {
        method: "delete",
        query: IMAGE,
        ..plain_get(
            "/image",
            "Images",
            "Delete an image from its registry",
            Answer::Json(shapes::image_deleted()),
            delete(images::image_delete),
        )
    };
    delete_image.answers.extend(failures(&[400, 502]));
    let mut devcontainer = plain_get(
        "/devcontainer",
        "Dev Container metadata",
        "How the containers of an image are run",
        Answer::Json(shapes::devcontainer()),
        get(devcontainers::devcontainer_read),
    );
    devcontainer.query = IMAGE_AND_PLATFORM;
    devcontainer.answers.extend(failures(&[400, 404, 422, 502]));
    vec![
        Route {
            method: "post",
            path: "/build",
            tag: "Dev Containers",
            about: "Build the images of a repository and push them",
            query: &[],
            body: Some(shapes::build_body()),
            answers: vec![
                (200, Answer::Json(shapes::build_answer())),
                build_failure(400),
                (429, Answer::Later(shapes::error())),
                build_failure(500),
            ],
            handler: post(builds::build),
        },
        read,
        delete_image,
        devcontainer,
    ]
}

fn about_jobs() -> Vec<Route> {
    let job = || Answer::Json(shapes::job());
    let create = Route {
        method: "post",
        body: Some(shapes::build_body()),
        answers: vec![
            (202, job()),
            (200, job()),
            (400, Answer::Json(shapes::error())),
            (409, Answer::Json(shapes::error())),
            (429, Answer::Later(shapes::error())),
        ],
        ..plain_get(
            "/jobs",
            "Jobs",
            "Build without waiting for it",
            job(),
            post(jobs::job_create),
        )
    };
    let list = plain_get(
        "/jobs",
        "Jobs",
        "The caller's jobs",
        Answer::Json(shapes::jobs()),
        get(jobs::job_list),
    );
    let mut read = plain_get("/jobs/{id}", "Jobs", "A job", job(), get(jobs::job_read));
    let mut cancel = Route {
        method: "delete",
        answers: vec![(202, job())],
        ..plain_get(
            "/jobs/{id}",
            "Jobs",
            "Cancel a job",
            job(),
            delete(jobs::job_cancel),
        )
    };
    let mut events = plain_get(
        "/jobs/{id}/events",
        "Jobs",
        "What happens in a job, until it is over",
        Answer::Text("text/event-stream"),
        get(jobs::job_events),
    );
    for route in [&mut read, &mut cancel, &mut events] {
        route.answers.extend(failures(&[404]));
    }
    vec![create, list, read, cancel, events]
}
