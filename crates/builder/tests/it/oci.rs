//! The client of registries, with a real one.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use bytes::Bytes;
use coder_builder::oci::manifest::{OCI_INDEX, OCI_MANIFEST};
use coder_builder::oci::{
    Client, Credentials, Deletion, Digest, DockerConfig, Error, Keychain, Location, Options,
};
use coder_builder::secret::Secret;

use crate::support::oci::{CONFIG, amd64, options, password, push_image, repository};
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::token_server::{IDENTITY_TOKEN, TokenServer};

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
