//! A token service for a real registry (Docker's token specification): signs what is asked for with a key of its own.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};

use super::registry::{PASSWORD, USER};

/// The identity token that stands for `user`.
pub const IDENTITY_TOKEN: &str = "identity-of-user";

pub struct TokenServer {
    /// The address that the registry sends to.
    pub realm: String,
    pub certificate_pem: String,
    task: tokio::task::JoinHandle<()>,
}

struct Signer {
    key: EcdsaKeyPair,
    certificate: Vec<u8>,
    /// In which member of the answer the token is.
    member: &'static str,
}

impl TokenServer {
    /// `host` is `localhost` or another name of this machine. Whoever has the password or the identity token may do all,
    /// others may pull; wrong credentials are refused.
    pub async fn start(host: &str, member: &'static str) -> Self {
        let pair = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(vec!["token.test".to_owned()]).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&pair).unwrap();
        let random = ring::rand::SystemRandom::new();
        let der = pair.serialize_der();
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &random).unwrap();
        let signer = Arc::new(Signer {
            key,
            certificate: certificate.der().to_vec(),
            member,
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let signer = signer.clone();
                let service = service_fn(move |request| {
                    let signer = signer.clone();
                    async move { Ok::<_, std::convert::Infallible>(signer.answer(request).await) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self {
            realm: format!("http://{host}:{port}/token"),
            certificate_pem: format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                STANDARD.encode(certificate.der())
            ),
            task,
        }
    }
}

impl Drop for TokenServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Signer {
    async fn answer(&self, request: Request<hyper::body::Incoming>) -> Response<String> {
        let header = request.headers().get("authorization");
        let header = header.map(|value| value.to_str().unwrap().to_owned());
        let query = request.uri().query().unwrap_or_default().to_owned();
        let is_form = request.method() == "POST";
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let form = if is_form {
            body.to_vec()
        } else {
            query.into_bytes()
        };
        let pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(&form).into_owned().collect();
        let get = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let expected = format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")));
        let known = match (header, get("refresh_token")) {
            (Some(header), _) if header == expected => true,
            (None, Some(IDENTITY_TOKEN)) => true,
            (None, None) if !is_form => false,
            _ => return Response::builder().status(401).body(String::new()).unwrap(),
        };
        assert_eq!(get("service"), Some("test-registry"));
        let scopes = pairs.iter().filter(|(key, _)| key == "scope");
        let access = scopes.flat_map(|(_, value)| value.split(' ')).map(|scope| {
            let mut parts = scope.splitn(3, ':');
            let mut next = || parts.next().unwrap().to_owned();
            let (kind, name, actions) = (next(), next(), next());
            let actions: Vec<&str> = actions
                .split(',')
                .filter(|action| known || *action == "pull")
                .collect();
            serde_json::json!({"type": kind, "name": name, "actions": actions})
        });
        let access: Vec<_> = access.collect();
        let body = serde_json::json!({ self.member: self.token(&access) });
        Response::new(body.to_string())
    }

    fn token(&self, access: &[serde_json::Value]) -> String {
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = part(serde_json::json!({
            "typ": "JWT", "alg": "ES256", "x5c": [STANDARD.encode(&self.certificate)],
        }));
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let claims = part(serde_json::json!({
            "iss": "test-issuer", "aud": "test-registry", "sub": USER, "jti": now.to_string(),
            "iat": now, "nbf": now - 60, "exp": now + 300, "access": access,
        }));
        let text = format!("{header}.{claims}");
        let random = ring::rand::SystemRandom::new();
        let signature = self.key.sign(&random, text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}
