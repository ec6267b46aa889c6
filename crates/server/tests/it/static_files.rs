//! What is served as it is: checks 10, 12 and 13.

use coder_testkit::TestServer;
use serde_json::Value;

#[tokio::test]
async fn check_010_programs_are_served_with_their_hash_and_not_twice() {
    let server = TestServer::start().await;
    let place = server.app.config.cache_dir.join("bin");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("coder-darwin-arm64"), "abc").unwrap();
    let path = "/bin/coder-darwin-arm64";
    let whole = server.get("", path).await;
    assert_eq!((whole.status, whole.body.as_ref()), (200, &b"abc"[..]));
    let tag = whole.headers["etag"].to_str().unwrap();
    assert_eq!(tag, "\"a9993e364706816aba3e25717850c26c9cd0d89d\"");
    let known = server
        .send("GET", path, &[("if-none-match", tag)], None)
        .await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    let head = server.call("", "HEAD", path, Value::Null).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.headers["content-length"], "3");
    assert_eq!(head.headers["x-original-content-length"], "3");
    for missing in ["/bin/coder-plan9-mips", "/bin/coder-windows-amd64.exe"] {
        assert_eq!(server.get("", missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn check_012_and_013_the_install_script_and_the_latency_check_are_for_anybody() {
    let server = TestServer::start().await;
    let script = server.get("", "/install.sh").await;
    let text = String::from_utf8(script.body.to_vec()).unwrap();
    assert_eq!(script.status, 200);
    assert!(text.starts_with("#!/") && text.contains(&server.url));
    let latency = server.get("", "/latency-check").await;
    assert_eq!(latency.status, 200);
    assert_eq!(latency.headers["access-control-allow-origin"], "*");
}
