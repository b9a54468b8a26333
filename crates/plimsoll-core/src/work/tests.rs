use super::*;

fn returned(text: &str) -> Vec<String> {
    let (call, changes) = ("1", Vec::new());
    let said = Output::new(text.as_bytes(), String::from_utf8_lossy);
    let act = Act::Returned { call, failed: false, said, changes, step: None };
    let mut fold = Fold::default();
    fold.take(&Record { acts: vec![act], ..Record::default() });
    let work = fold.work();
    let files = work.table.files.iter().map(|file| file.path.to_string());
    files.chain(work.table.names.iter().map(|name| name.text.to_string())).collect()
}

#[test]
fn only_a_diff_puts_a_side_before_a_path() {
    let diff = "diff --git a/src/x.rs b/src/x.rs\n--- a/src/x.rs\n+++ b/src/x.rs\n+see b/y.rs";
    assert_eq!(returned(diff), ["src/x.rs", "b/y.rs"]);
    assert_eq!(returned("a/src/x.rs:3: unused\nb/y.rs"), ["a/src/x.rs", "b/y.rs"]);
}

#[test]
fn what_we_gave_to_a_session_is_no_source_of_names() {
    let given = fence::fenced("src/hull.rs: readHull", "From afar.");
    assert_eq!(returned(&format!("$ cat it\n{given}")), [""; 0]);
    assert_eq!(returned("src/hull.rs: readHull"), ["src/hull.rs", "readHull"]);
}
