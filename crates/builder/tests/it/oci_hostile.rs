//! The client of registries, with made-up ones where no real one is so hostile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use coder_builder::oci::manifest::{DOCKER_MANIFEST, OCI_MANIFEST};
use coder_builder::oci::{Client, Digest, Error, Keychain, Location, Options, Proxies};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

use crate::support::fake::{Fake, answer};
use crate::support::oci::{CONFIG, amd64, options, password, push_image, repository};
use crate::support::proxy::Proxy;
use crate::support::registry::{PASSWORD, Registry};

#[tokio::test]
async fn check_88_without_a_digest_nothing_is_deleted() {
    let fake = Fake::start(|_| answer(200, &[], "{}")).await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    let error = repository.delete_tag("1").await.unwrap_err();
    assert!(matches!(error, Error::NoDigest { .. }), "{error}");
    assert!(fake.asked().iter().all(|asked| asked.method == "HEAD"));
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
        2 => answer(500, &[("retry-after", "0")], ""),
        _ => answer(404, &[], ""),
    });
    let fake = fake.await;
    let repository = repository(&fake.host, "app", Keychain::anonymous());
    assert_eq!(repository.resolve("1").await.unwrap(), None);
    assert_eq!(fake.asked().len(), 4);
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
            &[("retry-after", "0")],
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
