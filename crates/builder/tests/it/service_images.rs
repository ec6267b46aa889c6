//! What the service says of images in registries (builder §7.5).

use serde_json::json;

use crate::support::base::Base;
use crate::support::proxy::Proxy;
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::service::Service;

#[tokio::test]
async fn checks_81_to_86_images_in_registries() {
    let open = Registry::start();
    let closed = Registry::with(Auth::Password, true);
    let insecure = format!("{},{}", open.host, closed.host);
    let service = Service::start(&[("INSECURE_REGISTRIES", &insecure)]).await;
    let path = |registry: &str| format!("/image?registry={registry}&name=app&tag=t");
    for bad in [
        "/image",
        "/image?registry=r&name=&tag=t",
        "/image?registry=r&name=a",
    ] {
        assert_eq!(service.get(bad).await.status, 400, "{bad}");
    }
    let absent = service.get(&path(&open.host)).await;
    assert_eq!(
        absent.json(),
        json!({ "image": format!("{}/app:t", open.host), "exists": false })
    );
    let gone = service.call("DELETE", &path(&open.host), &[], "").await;
    assert_eq!(gone.json()["reason"], "already absent");
    assert_eq!(service.get(&path(&closed.host)).await.status, 502);
    let both = [
        ("X-Registry-Username", USER),
        ("X-Registry-Password", PASSWORD),
    ];
    let absent = service.call("GET", &path(&closed.host), &both, "").await;
    assert_eq!(absent.json()["exists"], false);
    assert_eq!(
        service
            .call("GET", &path(&closed.host), &both[..1], "")
            .await
            .status,
        502
    );
    let wrong = [both[0], ("X-Registry-Password", "s3cr3t")];
    let answer = service.call("GET", &path(&closed.host), &wrong, "").await;
    assert_eq!(answer.status, 502);
    assert!(answer.error().contains(&closed.host) && !answer.body.contains("s3cr3t"));
    let listed_nowhere = format!("http://{}", "127.0.0.1:9");
    assert_eq!(service.get(&path(&listed_nowhere)).await.status, 400);
    assert_eq!(service.get(&path("127.0.0.1:9")).await.status, 502);
    assert!(!service.output().contains("s3cr3t") && !service.output().contains(PASSWORD));
}

#[tokio::test]
async fn checks_87_and_91_registries_that_delete_nothing_and_images_that_say_nothing() {
    let registry = Registry::with(Auth::None, false);
    let host = &registry.host;
    let service = Service::start(&[("INSECURE_REGISTRIES", host)]).await;
    let path = |route: &str, name: &str, tag: &str| {
        format!("/{route}?registry={host}&name={name}&tag={tag}")
    };
    let broken = json!({ "Labels": { "devcontainer.metadata": "nope" } });
    Base::new("broken", broken).to(host).await;
    let good = json!({ "Labels": { "devcontainer.metadata": r#"[{"remoteUser":"dev"}]"# } });
    for tag in ["1", "2"] {
        let base = Base {
            tag,
            ..Base::new("app", good.clone())
        };
        base.to(host).await;
    }
    Base::new("plain", json!({})).to(host).await;
    // Both tags stand for one manifest, and one of them is given its own and gets the old one back.
    let described = service.get(&path("devcontainer", "app", "1")).await.json();
    assert_eq!(described["runtime"]["remoteUser"], "dev");
    for name in ["app", "plain"] {
        let answer = service
            .call("DELETE", &path("image", name, "1"), &[], "")
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["deleted"], false);
        assert_eq!(
            answer.json()["reason"],
            "registry does not support manifest deletion"
        );
    }
    assert_eq!(
        service.get(&path("devcontainer", "app", "1")).await.json(),
        described
    );
    for (name, says) in [("plain", "has no label"), ("broken", "no JSON array")] {
        let answer = service.get(&path("devcontainer", name, "1")).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        assert!(answer.error().contains(says), "{answer:?}");
    }
    let absent = service.get(&path("devcontainer", "app", "none")).await;
    assert_eq!(absent.status, 404);
    assert!(
        absent.error().contains(&format!("{host}/app:none")),
        "{absent:?}"
    );
    let platform = format!("{}&platform=linux", path("devcontainer", "app", "1"));
    assert_eq!(service.get(&platform).await.status, 400);
    let metrics = service.get("/metrics").await.body;
    for line in [
        "devcontainer_builder_image_deletes_total{result=\"unsupported\"} 2",
        "devcontainer_builder_devcontainer_lookups_total{result=\"no_metadata\"} 2",
        "devcontainer_builder_devcontainer_lookups_total{result=\"absent\"} 1",
        "devcontainer_builder_devcontainer_lookups_total{result=\"found\"} 2",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[tokio::test]
async fn registries_are_reached_through_the_proxy_of_the_environment() {
    let (registry, proxy) = (Registry::start(), Proxy::start().await);
    let address = format!("http://{}", proxy.host);
    let service = Service::start(&[("HTTPS_PROXY", &address)]).await;
    let path = format!("/image?registry={}&name=app&tag=t", registry.host);
    // It has no TLS, and is not listed as one without.
    assert_eq!(service.get(&path).await.status, 502);
    let asked = proxy.asked().concat();
    assert!(
        asked.starts_with(&format!("CONNECT {} ", registry.host)),
        "{asked}"
    );
}
