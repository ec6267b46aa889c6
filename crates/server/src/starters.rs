//! The starter templates that are part of the program: what they are called, and their files.

use coder_wire as wire;
use std::sync::LazyLock;

/// A starter template.
pub struct Starter {
    /// What it is asked for by.
    pub id: &'static str,
    files: &'static [(&'static str, &'static str, u32)],
}

macro_rules! file {
    ($dir:literal, $name:literal, $mode:literal) => {
        (
            $name,
            include_str!(concat!("../../../templates/", $dir, "/", $name)),
            $mode,
        )
    };
}

const STARTERS: &[Starter] = &[
    Starter {
        id: "local",
        files: &[
            file!("local", "README.md", 0o644),
            file!("local", "main.tf", 0o644),
            file!("local", "workspace.sh", 0o755),
        ],
    },
    Starter {
        id: "docker",
        files: &[
            file!("docker", "README.md", 0o644),
            file!("docker", "container.sh", 0o755),
            file!("docker", "main.tf", 0o644),
        ],
    },
];

static EXAMPLES: LazyLock<Vec<wire::TemplateExample>> =
    LazyLock::new(|| STARTERS.iter().map(Starter::example).collect());

/// What a README's front matter says.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct FrontMatter {
    display_name: String,
    description: String,
    icon: String,
    tags: Vec<String>,
}

/// Parts a README into its front matter and the rest.
fn part(readme: &str) -> (FrontMatter, &str) {
    let parted = readme
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"));
    let Some((head, body)) = parted else {
        return (FrontMatter::default(), readme);
    };
    (
        serde_yaml_ng::from_str(head).unwrap_or_default(),
        body.trim_start(),
    )
}

impl Starter {
    fn example(&self) -> wire::TemplateExample {
        let readme = self
            .files
            .iter()
            .find(|(name, ..)| *name == "README.md")
            .map_or("", |(_, text, _)| text);
        let (head, body) = part(readme);
        wire::TemplateExample {
            id: self.id.to_owned(),
            url: String::new(),
            name: head.display_name,
            description: head.description,
            icon: head.icon,
            tags: head.tags,
            markdown: body.to_owned(),
        }
    }

    /// The template as an archive, the same bytes each time.
    ///
    /// # Errors
    /// When the archive cannot be made.
    pub fn tar(&self) -> std::io::Result<Vec<u8>> {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, text, mode) in self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(*mode);
            header.set_mtime(0);
            tar.append_data(&mut header, name, text.as_bytes())?;
        }
        tar.into_inner()
    }
}

/// All starters, as the API shows them.
pub fn examples() -> &'static [wire::TemplateExample] {
    &EXAMPLES
}

/// The starter with this id.
pub fn find(id: &str) -> Option<&'static Starter> {
    STARTERS.iter().find(|s| s.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_starter_has_a_name_a_description_and_an_icon() {
        assert_eq!(examples().len(), STARTERS.len());
        for example in examples() {
            for text in [
                &example.name,
                &example.description,
                &example.icon,
                &example.markdown,
            ] {
                assert!(!text.is_empty(), "{}", example.id);
            }
            assert!(!example.markdown.starts_with("---"), "{}", example.id);
        }
    }

    #[test]
    fn a_starters_archive_holds_its_files_and_never_changes() {
        let starter = find("docker").unwrap();
        let bytes = starter.tar().unwrap();
        assert_eq!(bytes, starter.tar().unwrap());
        let mut archive = tar::Archive::new(bytes.as_slice());
        let names: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|e| e.unwrap().path().unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["README.md", "container.sh", "main.tf"]);
        assert!(find("nope").is_none());
    }
}
