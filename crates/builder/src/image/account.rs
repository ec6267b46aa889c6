//! Users in an image's own /etc/passwd and /etc/group, so that no program has to run in it: images without a shell have
//! users, too.

use coder_devcontainer::json::{Object, Value};

/// A user of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name, or its number if it has none.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
    /// Its home.
    pub home: String,
}

impl Account {
    /// Finds a user, written `user`, `uid`, `user:group` and so on, as the runtime finds it. A number that is no
    /// user's is a user all the same; a name is not.
    pub fn find(user: &str, passwd: &str, group: &str) -> Option<Self> {
        let (user, wanted_group) = match user.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (user, None),
        };
        let lines = || passwd.lines().filter_map(Self::line);
        let number = user.parse::<u32>().ok();
        let by_name = lines().find(|account| account.name == user);
        let by_number = || lines().find(|account| Some(account.uid) == number);
        let nameless = || {
            Some(Self {
                name: user.to_owned(),
                uid: number?,
                gid: 0,
                home: "/".to_owned(),
            })
        };
        // The superuser is there whether or not a file says so.
        let superuser = || {
            (user == "root" || number == Some(0)).then(|| Self {
                name: "root".to_owned(),
                uid: 0,
                gid: 0,
                home: "/root".to_owned(),
            })
        };
        let found = by_name.or_else(by_number).or_else(superuser);
        let mut account = found.or_else(nameless)?;
        if let Some(wanted) = wanted_group.filter(|group| !group.is_empty()) {
            account.gid = group_number(wanted, group)?;
        }
        Some(account)
    }

    /// `name:password:uid:gid:comment:home:shell`
    fn line(line: &str) -> Option<Self> {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let mut fields = fields.skip(1);
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        let home = fields.nth(1).filter(|home| !home.is_empty()).unwrap_or("/");
        Some(Self {
            name: name.to_owned(),
            uid,
            gid,
            home: home.to_owned(),
        })
    }

    /// As it stands in the label.
    pub fn to_value(&self) -> Value {
        let number = |number: u32| Value::Number(number.into());
        Value::Object(Object::from_iter([
            ("name".to_owned(), Value::from(self.name.as_str())),
            ("uid".to_owned(), number(self.uid)),
            ("gid".to_owned(), number(self.gid)),
            ("home".to_owned(), Value::from(self.home.as_str())),
        ]))
    }
}

/// `name:password:gid:members`
fn group_number(wanted: &str, file: &str) -> Option<u32> {
    let named = file.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (name == wanted).then(|| fields.nth(1)?.parse().ok())?
    });
    named.or_else(|| wanted.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
        developer:x:2000:2000::/home/developer:/bin/sh\n\
        dev:x:1000:1001:Dev:/home/dev:/bin/bash\n\
        nohome:x:1002:1002:::\n\
        broken\n";
    const GROUP: &str = "root:x:0:\ndocker:x:998:dev\n";

    fn find(user: &str) -> Option<String> {
        let account = Account::find(user, PASSWD, GROUP)?;
        Some(format!(
            "{} {} {} {}",
            account.name, account.uid, account.gid, account.home
        ))
    }

    #[test]
    fn check_121_accounts_are_found_by_name_and_number() {
        let table = [
            ("dev", Some("dev 1000 1001 /home/dev")),
            ("1000", Some("dev 1000 1001 /home/dev")),
            ("dev:docker", Some("dev 1000 998 /home/dev")),
            ("dev:5", Some("dev 1000 5 /home/dev")),
            ("dev:nogroup", None),
            ("nohome", Some("nohome 1002 1002 /")),
            ("4242", Some("4242 4242 0 /")),
            ("de", None),
            ("broken", None),
            ("nobody", None),
        ];
        for (user, want) in table {
            assert_eq!(find(user).as_deref(), want, "{user}");
        }
        let scratch = Account::find("root", "", "").unwrap();
        assert_eq!((scratch.uid, scratch.home.as_str()), (0, "/root"));
        let text = scratch.to_value().to_string();
        assert_eq!(text, r#"{"name":"root","uid":0,"gid":0,"home":"/root"}"#);
    }
}
