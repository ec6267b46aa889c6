//! The client of registries, with a real one; with a made-up one where no real one is so hostile.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use coder_builder::oci::manifest::{DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST};
use coder_builder::oci::{
    Client, Credentials, Deletion, Digest, DockerConfig, Error, Insecure, Keychain, Location,
    Options, Platform, Proxies, Repository,
};
use coder_builder::secret::Secret;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

use crate::support::fake::{Fake, answer};
use crate::support::proxy::Proxy;
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::token_server::{IDENTITY_TOKEN, TokenServer};

const CONFIG: &str = r#"{"os":"linux","architecture":"amd64","config":{"User":"dev","Env":["A=b"],"Labels":{"l":"v"}}}"#;

fn options(hosts: &[&str]) -> Options {
    Options {
        insecure: Insecure::new(hosts.iter().map(|host| (*host).to_owned())),
        timeout: Duration::from_secs(20),
        ..Options::default()
    }
}

fn repository(host: &str, path: &str, keychain: Keychain) -> Repository {
    let options = options(&["localhost:*", "127.0.0.1:*"]);
    let location = Location::read(host, path, &options.insecure).unwrap();
    Client::new(&options)
        .unwrap()
        .repository(location, keychain)
}

fn password(password: &str) -> Keychain {
    Keychain::given(Credentials::Basic {
        user: USER.to_owned(),
        password: Secret::new(password),
    })
}

/// Pushes an image of one layer and says its digest.
async fn push_image(repository: &Repository, tag: &str, config: &str) -> Digest {
    let config = Bytes::from(config.to_owned());
    let layer = Bytes::from("a layer");
    let config_digest = repository.push_blob(config.clone()).await.unwrap();
    let layer_digest = repository.push_blob(layer.clone()).await.unwrap();
    let manifest = serde_json::json!({
        "schemaVersion": 2, "mediaType": OCI_MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": config_digest, "size": config.len()},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer_digest, "size": layer.len()}],
    });
    let body = Bytes::from(manifest.to_string());
    repository
        .push_manifest(tag, OCI_MANIFEST, body)
        .await
        .unwrap()
}

fn amd64() -> Platform {
    "linux/amd64".parse().unwrap()
}

#[tokio::test]
async fn an_image_is_pushed_read_and_deleted() {
    let registry = Registry::start();
    let repository = repository(&registry.host, "team/app", Keychain::anonymous());
    assert_eq!(repository.resolve("1").await.unwrap(), None);
    assert!(repository.manifest("1").await.unwrap_err().is_not_found());
    let digest = push_image(&repository, "1", CONFIG).await;
    assert_eq!(repository.resolve("1").await.unwrap(), Some(digest.clone()));
    let image = repository.image("1", &amd64()).await.unwrap();
    assert_eq!(image.digest, digest);
    assert_eq!(image.config.config.user, "dev");
    assert_eq!(image.config.config.labels["l"], "v");
    let by_digest = repository.manifest(digest.as_str()).await.unwrap();
    assert_eq!(by_digest.media_type.as_deref(), Some(OCI_MANIFEST));
    let layer = &image.manifest.layers[0];
    assert_eq!(
        repository.blob(&layer.digest, layer.size).await.unwrap(),
        b"a layer"
    );
    let too_large = repository.blob(&layer.digest, layer.size - 1).await;
    assert!(
        matches!(too_large, Err(Error::TooLarge { .. })),
        "{too_large:?}"
    );
    let absent = repository
        .blob(&Digest::of(b"absent"), 10)
        .await
        .unwrap_err();
    assert!(absent.is_not_found(), "{absent}");
}

#[tokio::test]
async fn check_86_deleting_twice_finds_it_absent() {
    let registry = Registry::start();
    let repository = repository(&registry.host, "app", Keychain::anonymous());
    assert_eq!(
        repository.delete_tag("1").await.unwrap(),
        Deletion::AlreadyAbsent
    );
    let digest = push_image(&repository, "1", CONFIG).await;
    assert_eq!(repository.delete_tag("1").await.unwrap(), Deletion::Deleted);
    assert_eq!(
        repository.delete_tag("1").await.unwrap(),
        Deletion::AlreadyAbsent
    );
    assert_eq!(
        repository.delete_manifest(&digest).await.unwrap(),
        Deletion::AlreadyAbsent
    );
}

#[tokio::test]
async fn check_87_a_registry_that_deletes_nothing_says_so() {
    let registry = Registry::with(Auth::None, false);
    let repository = repository(&registry.host, "app", Keychain::anonymous());
    push_image(&repository, "1", CONFIG).await;
    assert_eq!(
        repository.delete_tag("1").await.unwrap(),
        Deletion::Unsupported
    );
    assert!(repository.resolve("1").await.unwrap().is_some());
}

#[tokio::test]
async fn check_88_without_a_digest_nothing_is_deleted() {
    let fake = Fake::start(|_| answer(200, &[], "{}")).await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    let error = repository.delete_tag("1").await.unwrap_err();
    assert!(matches!(error, Error::NoDigest { .. }), "{error}");
    assert!(fake.asked().iter().all(|asked| asked.method == "HEAD"));
}

#[tokio::test]
async fn check_89_an_index_has_one_image_for_a_platform_or_says_which_there_are() {
    let registry = Registry::start();
    let repository = repository(&registry.host, "app", Keychain::anonymous());
    let mut manifests = Vec::new();
    for (os, architecture, variant) in [
        ("linux", "amd64", None),
        ("linux", "arm64", Some("v8")),
        ("unknown", "unknown", None),
    ] {
        let config = format!(r#"{{"os":"{os}","architecture":"{architecture}"}}"#);
        let digest = push_image(&repository, "inner", &config).await;
        let size = repository.manifest("inner").await.unwrap().body.len();
        let mut platform = serde_json::json!({"os": os, "architecture": architecture});
        if let Some(variant) = variant {
            platform["variant"] = variant.into();
        }
        manifests.push(serde_json::json!({
            "mediaType": OCI_MANIFEST, "digest": digest, "size": size, "platform": platform,
        }));
    }
    let index =
        serde_json::json!({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": manifests});
    let body = Bytes::from(index.to_string());
    repository
        .push_manifest("1", OCI_INDEX, body)
        .await
        .unwrap();
    let arm = repository
        .image("1", &"linux/arm64".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(arm.config.architecture, "arm64");
    let error = repository
        .image("1", &"linux/s390x".parse().unwrap())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("there is linux/amd64, linux/arm64/v8"),
        "{error}"
    );
}

#[tokio::test]
async fn tags_are_read_page_by_page() {
    let registry = Registry::start();
    let repository = repository(&registry.host, "app", Keychain::anonymous());
    let tags = repository.tags().await.unwrap_err();
    assert!(tags.is_not_found(), "{tags}");
    for tag in ["b", "a", "c"] {
        push_image(&repository, tag, CONFIG).await;
    }
    let mut tags = repository.tags().await.unwrap();
    tags.sort();
    assert_eq!(tags, ["a", "b", "c"]);
    // The real one here gives all at once.
    let fake = Fake::start(|asked| match asked.path.contains("last=") {
        false => answer(
            200,
            &[("link", "</v2/app/tags/list?n=1&last=a>; rel=\"next\"")],
            r#"{"tags":["a"]}"#,
        ),
        true => answer(200, &[], r#"{"name":"app","tags":["b"]}"#),
    });
    let fake = fake.await;
    let paged = self::repository(&fake.host, "app", Keychain::anonymous());
    assert_eq!(paged.tags().await.unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn a_blob_of_another_repository_is_mounted() {
    let registry = Registry::start();
    let from = repository(&registry.host, "from", Keychain::anonymous());
    let to = repository(&registry.host, "to", Keychain::anonymous());
    let digest = from.push_blob(Bytes::from("content")).await.unwrap();
    assert!(!to.has_blob(&digest).await.unwrap());
    assert!(to.mount_blob(&digest, "from").await.unwrap());
    assert!(to.has_blob(&digest).await.unwrap());
    assert!(!to.mount_blob(&Digest::of(b"absent"), "from").await.unwrap());
}

#[tokio::test]
async fn check_81_a_registry_with_passwords_wants_the_right_one() {
    let registry = Registry::with(Auth::Password, true);
    let known = repository(&registry.host, "app", password(PASSWORD));
    push_image(&known, "1", CONFIG).await;
    assert!(known.resolve("1").await.unwrap().is_some());
    for (keychain, expected) in [
        (Keychain::anonymous(), "no credentials are known"),
        (password("wrong"), "wrong, expired, or not enough"),
    ] {
        let error = repository(&registry.host, "app", keychain)
            .resolve("1")
            .await
            .unwrap_err();
        assert!(
            matches!(error, Error::Denied { status: 401, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn check_82_a_token_is_had_by_password_or_identity_or_nobody() {
    for member in ["token", "access_token"] {
        let tokens = TokenServer::start("localhost", member).await;
        let registry = Registry::with(
            Auth::Token {
                realm: &tokens.realm,
                certificate_pem: &tokens.certificate_pem,
            },
            true,
        );
        let identity = Keychain::given(Credentials::IdentityToken(Secret::new(IDENTITY_TOKEN)));
        for (tag, keychain) in [("password", password(PASSWORD)), ("identity", identity)] {
            let known = repository(&registry.host, "team/app", keychain);
            push_image(&known, tag, CONFIG).await;
            assert_eq!(
                known.image(tag, &amd64()).await.unwrap().config.config.user,
                "dev"
            );
            let other = repository(&registry.host, "team/other", password(PASSWORD));
            let digest = Digest::of(b"a layer");
            other.mount_blob(&digest, "team/app").await.unwrap();
            assert!(other.has_blob(&digest).await.unwrap());
        }
        // Nobody may pull; expired credentials are as good as none.
        for keychain in [Keychain::anonymous(), password("expired")] {
            let pulls = repository(&registry.host, "team/app", keychain.clone());
            assert!(pulls.image("password", &amd64()).await.is_ok());
            let pushes = pulls.push_blob(Bytes::from("new")).await.unwrap_err();
            assert!(matches!(pushes, Error::Denied { .. }), "{pushes}");
        }
        let known = repository(&registry.host, "team/app", password(PASSWORD));
        assert_eq!(
            known.delete_tag("password").await.unwrap(),
            Deletion::Deleted
        );
    }
}

#[tokio::test]
async fn check_83_credentials_do_not_go_to_a_token_service_of_another_host() {
    let tokens = TokenServer::start("127.0.0.1", "token").await;
    let registry = Registry::with(
        Auth::Token {
            realm: &tokens.realm,
            certificate_pem: &tokens.certificate_pem,
        },
        true,
    );
    let error = repository(&registry.host, "app", password(PASSWORD))
        .resolve("1")
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Realm { .. }), "{error}");
    assert!(error.to_string().contains("it is another host"), "{error}");
    // Unless somebody vouches for it.
    let options = Options {
        realms: vec![(registry.host.clone(), "127.0.0.1".to_owned())],
        ..options(&["localhost:*"])
    };
    let location = Location::read(&registry.host, "app", &options.insecure).unwrap();
    let vouched = Client::new(&options)
        .unwrap()
        .repository(location, password(PASSWORD));
    push_image(&vouched, "1", CONFIG).await;
}

#[tokio::test]
async fn check_84_and_92_a_redirect_of_a_blob_is_followed_without_credentials() {
    let content = b"content";
    let store = Fake::start(move |_| answer(200, &[], &content[..])).await;
    let to = format!("http://{}/signed?x=y", store.host);
    let registry = Fake::start(
        move |asked| match (&asked.authorization, asked.path.as_str()) {
            (None, _) => answer(401, &[("www-authenticate", "Basic realm=\"x\"")], ""),
            (Some(_), path) if path.contains("/blobs/") => answer(307, &[("location", &to)], ""),
            _ => answer(404, &[], ""),
        },
    );
    let registry = registry.await;
    let found = repository(&registry.host, "app", password(PASSWORD))
        .blob(&Digest::of(content), 100)
        .await;
    assert_eq!(found.unwrap(), content);
    assert!(
        registry
            .asked()
            .iter()
            .any(|asked| asked.authorization.is_some())
    );
    let asked = store.asked();
    assert_eq!((asked.len(), &asked[0].authorization), (1, &None));
    assert_eq!(asked[0].path, "/signed?x=y");
}

#[tokio::test]
async fn a_redirect_to_plain_http_of_a_host_that_is_not_listed_is_refused() {
    let store = Fake::start(|_| answer(200, &[], "content")).await;
    let to = format!("http://{}/", store.host.replace("127.0.0.1", "localhost"));
    let registry = Fake::start(move |_| answer(302, &[("location", &to)], "")).await;
    let options = options(&["127.0.0.1:*"]);
    let location = Location::read(&registry.host, "app", &options.insecure).unwrap();
    let repository = Client::new(&options)
        .unwrap()
        .repository(location, Keychain::anonymous());
    let error = repository
        .blob(&Digest::of(b"content"), 100)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Redirect { .. }), "{error}");
    assert_eq!(store.asked(), []);
}

#[tokio::test]
async fn check_85_a_busy_registry_is_asked_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let fake = Fake::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => answer(429, &[("retry-after", "0")], ""),
        1 => answer(503, &[("retry-after", "0")], ""),
        _ => answer(404, &[], ""),
    });
    let fake = fake.await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    assert_eq!(repository.resolve("1").await.unwrap(), None);
    assert_eq!(fake.asked().len(), 3);
}

#[tokio::test]
async fn check_85_a_host_that_is_not_listed_is_never_asked_in_the_clear() {
    let fake = Fake::start(|_| answer(404, &[], "")).await;
    let options = options(&[]);
    let location = Location::read(&fake.host, "app", &options.insecure).unwrap();
    let repository = Client::new(&options)
        .unwrap()
        .repository(location, Keychain::anonymous());
    let error = repository.resolve("1").await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert_eq!(fake.asked(), []);
}

#[tokio::test]
async fn check_83_trouble_names_the_registry() {
    let fake = Fake::start(|_| {
        answer(
            500,
            &[],
            r#"{"errors":[{"code":"UNKNOWN","message":"secret"}]}"#,
        )
    })
    .await;
    let error = repository(&fake.host, "app", Keychain::anonymous())
        .manifest("1")
        .await
        .unwrap_err();
    let expected = format!(
        "the registry {0} answered 500 (UNKNOWN) to GET {0}/app:1",
        fake.host
    );
    assert_eq!(error.to_string(), expected);
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let error = repository(&closed, "app", Keychain::anonymous())
        .resolve("1")
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::Unreachable { registry, .. } if *registry == closed),
        "{error}"
    );
}

#[tokio::test]
async fn check_93_what_is_no_manifest_is_refused() {
    let digest = Digest::of(b"");
    let large = " ".repeat((4 << 20) + 1);
    let bodies = [
        "nothing".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        large,
    ];
    for body in bodies {
        let fake =
            Fake::start(move |_| answer(200, &[("content-type", DOCKER_MANIFEST)], body.clone()))
                .await;
        let repository = repository(&fake.host, "app", Keychain::anonymous());
        let error = repository.image("1", &amd64()).await.unwrap_err();
        assert!(
            matches!(error, Error::Manifest { .. } | Error::TooLarge { .. }),
            "{error}"
        );
        let error = repository.manifest(digest.as_str()).await.unwrap_err();
        assert!(
            matches!(error, Error::Digest { .. } | Error::TooLarge { .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn check_79_content_with_another_digest_is_refused() {
    let fake = Fake::start(|_| answer(200, &[], "other content")).await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    let error = repository
        .blob(&Digest::of(b"content"), 100)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Digest { .. }), "{error}");
}

#[tokio::test]
async fn check_94_a_registry_that_stalls_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let options = Options {
        timeout: Duration::from_millis(50),
        ..options(&["127.0.0.1:*"])
    };
    let location = Location::read(&host, "app", &options.insecure).unwrap();
    let repository = Client::new(&options)
        .unwrap()
        .repository(location, Keychain::anonymous());
    let error = repository.resolve("1").await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert_eq!(Options::default().timeout, Duration::from_secs(30));
}

#[tokio::test]
async fn a_helper_program_of_docker_gives_the_password() {
    let registry = Registry::with(Auth::Password, true);
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("docker-credential-coder-builder-test");
    let script = format!(
        "#!/bin/sh\nread -r server\ncase $1/$server in\nget/{}) echo '{{\"Username\":\"{USER}\",\"Secret\":\"{PASSWORD}\"}}' ;;\n\
         *) echo 'credentials not found in native keychain'; exit 1 ;;\nesac\n",
        registry.host
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        r#"{{"credHelpers":{{"{}":"coder-builder-test"}}}}"#,
        registry.host
    );
    let config_file = dir.path().join("config.json");
    std::fs::write(&config_file, config).unwrap();
    let config = DockerConfig::load(&config_file)
        .await
        .unwrap()
        .with_helper_path(dir.path().as_os_str());
    let known = repository(&registry.host, "app", Keychain::docker(Arc::new(config)));
    push_image(&known, "1", CONFIG).await;
}

#[tokio::test]
async fn a_registry_with_a_certificate_of_a_private_authority_is_trusted_when_it_is_given() {
    let fake = Fake::start_tls(|_| answer(404, &[], "")).await;
    let options = Options {
        extra_roots: vec![fake.certificate.clone().unwrap()],
        ..Options::default()
    };
    for (options, trusted) in [(options, true), (Options::default(), false)] {
        let location = Location::read(&fake.host, "app", &options.insecure).unwrap();
        let client = Client::new(&options).unwrap();
        let found = client.repository(location, Keychain::anonymous());
        assert_eq!(found.resolve("1").await.is_ok(), trusted);
    }
}

#[tokio::test]
async fn tls_goes_through_a_proxy_and_plain_http_does_not() {
    let proxy = Proxy::start().await;
    let tls = Fake::start_tls(|_| answer(404, &[], "")).await;
    let plain = Fake::start(|_| answer(404, &[], "")).await;
    let address = format!("http://me:pass@{}", proxy.host);
    let options = Options {
        extra_roots: vec![tls.certificate.clone().unwrap()],
        proxies: Proxies::from_env(&[("HTTPS_PROXY".to_owned(), address.clone())].into()),
        ..options(&["127.0.0.1:*"])
    };
    let resolve = async |options: &Options, host: &str| {
        let location = Location::read(host, "app", &options.insecure).unwrap();
        let client = Client::new(options).unwrap();
        client
            .repository(location, Keychain::anonymous())
            .resolve("1")
            .await
            .unwrap()
    };
    assert_eq!(resolve(&options, &plain.host).await, None);
    assert_eq!(proxy.asked(), Vec::<String>::new());
    assert_eq!(resolve(&options, &tls.host).await, None);
    let asked = proxy.asked().concat();
    assert!(
        asked.starts_with(&format!("CONNECT {} HTTP/1.1\r\n", tls.host)),
        "{asked}"
    );
    assert!(
        asked.to_lowercase().contains("proxy-authorization: basic "),
        "{asked}"
    );
    let env = [
        ("HTTPS_PROXY".to_owned(), address),
        ("NO_PROXY".to_owned(), "localhost".to_owned()),
    ];
    let options = Options {
        proxies: Proxies::from_env(&env.into()),
        ..options
    };
    assert_eq!(resolve(&options, &tls.host).await, None);
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn only_tags_and_digests_become_part_of_an_address() {
    let fake = Fake::start(|_| answer(200, &[], "{}")).await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    for reference in [
        "",
        "..",
        "../blobs/x",
        "a/b",
        "a?b",
        "a b",
        "sha256:00",
        "%2e%2e",
    ] {
        let error = repository.resolve(reference).await.unwrap_err();
        assert!(
            matches!(error, Error::Malformed { .. }),
            "{reference}: {error}"
        );
        assert!(repository.delete_tag(reference).await.is_err());
        assert!(
            repository
                .push_manifest(reference, OCI_MANIFEST, Bytes::new())
                .await
                .is_err()
        );
    }
    assert_eq!(fake.asked(), []);
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_made_anew_for_reading() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let server = tokio::spawn(async move {
        let mut heads = Vec::new();
        for answer in [
            "",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "",
        ] {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = tokio::io::BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).await.unwrap();
            }
            heads.push(head.split(' ').next().unwrap().to_owned());
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
        heads
    });
    let repository = repository(&host, "app", Keychain::anonymous());
    assert_eq!(repository.resolve("1").await.unwrap(), None);
    // What changes something is not sent twice.
    let pushed = repository
        .push_manifest("1", OCI_MANIFEST, Bytes::new())
        .await;
    assert!(
        matches!(pushed, Err(Error::Unreachable { .. })),
        "{pushed:?}"
    );
    assert_eq!(server.await.unwrap(), ["HEAD", "HEAD", "PUT"]);
}
