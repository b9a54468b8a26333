//! Secrets of every kind, planted in typical transcript text.

use std::collections::BTreeSet;

use super::*;

const HEX: &str = "0123456789abcdef";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS: &str = "0123456789";

/// A kind, its prefix and the runs after it. The prefix is split so that no source file contains a
/// token.
type PlantedToken = (&'static str, &'static [&'static str], &'static [(&'static str, usize)]);

const TOKENS: &[PlantedToken] = &[
    ("aws-access-key", &["AK", "IA"], &[(UPPER, 16)]),
    ("aws-access-key", &["AS", "IA"], &[(UPPER, 16)]),
    ("gcp-api-key", &["AI", "za"], &[(URL, 35)]),
    ("google-oauth-secret", &["GOC", "SPX-"], &[(URL, 28)]),
    ("google-access-token", &["ya", "29."], &[(URL, 60)]),
    ("google-refresh-token", &["1/", "/0"], &[(URL, 40)]),
    ("digitalocean-token", &["dop", "_v1_"], &[(HEX, 64)]),
    ("digitalocean-token", &["doo", "_v1_"], &[(HEX, 64)]),
    ("netlify-token", &["nf", "p_"], &[(ALNUM, 36)]),
    ("tailscale-key", &["tsk", "ey-auth-"], &[(ALNUM, 30)]),
    ("databricks-token", &["da", "pi"], &[(HEX, 32)]),
    ("github-token", &["gh", "p_"], &[(ALNUM, 36)]),
    ("github-token", &["gh", "o_"], &[(ALNUM, 36)]),
    ("github-token", &["gh", "u_"], &[(ALNUM, 36)]),
    ("github-token", &["gh", "s_"], &[(ALNUM, 36)]),
    ("github-token", &["gh", "r_"], &[(ALNUM, 36)]),
    ("github-token", &["github", "_pat_"], &[(ALNUM, 22), ("_", 1), (ALNUM, 59)]),
    ("gitlab-token", &["gl", "pat-"], &[(URL, 20)]),
    ("gitlab-token", &["gl", "dt-"], &[(URL, 20)]),
    ("gitlab-token", &["gl", "rt-"], &[(URL, 20)]),
    ("bitbucket-secret", &["AT", "BB"], &[(ALNUM, 32)]),
    ("atlassian-token", &["ATA", "TT3x"], &[(URL, 180)]),
    ("npm-token", &["np", "m_"], &[(ALNUM, 36)]),
    ("pypi-token", &["py", "pi-AgE"], &[(URL, 160)]),
    ("crates-token", &["ci", "o"], &[(ALNUM, 32)]),
    ("rubygems-key", &["ruby", "gems_"], &[(HEX, 48)]),
    ("docker-token", &["dckr", "_pat_"], &[(URL, 27)]),
    ("vault-token", &["hv", "s."], &[(URL, 90)]),
    (
        "terraform-token",
        &[],
        &[
            (ALNUM, 14),
            (".", 1),
            ("a", 1),
            ("t", 1),
            ("l", 1),
            ("a", 1),
            ("s", 1),
            ("v", 1),
            ("1", 1),
            (".", 1),
            (URL, 64),
        ],
    ),
    ("age-key", &["AGE-SECRET", "-KEY-1"], &[(UPPER, 58)]),
    ("newrelic-key", &["NR", "AK-"], &[(UPPER, 27)]),
    ("sentry-token", &["snt", "rys_"], &[(BASE64, 80)]),
    ("grafana-token", &["gl", "sa_"], &[(ALNUM, 32), ("_", 1), (HEX, 8)]),
    ("slack-token", &["xo", "xb-"], &[(DIGITS, 12), ("-", 1), (DIGITS, 12), ("-", 1), (ALNUM, 24)]),
    ("slack-token", &["xo", "xp-"], &[(DIGITS, 12), ("-", 1), (HEX, 32)]),
    ("slack-token", &["xa", "pp-1-"], &[(UPPER, 11), ("-", 1), (HEX, 64)]),
    ("slack-token", &["xo", "xe-1-"], &[(ALNUM, 140)]),
    ("telegram-token", &[], &[(DIGITS, 10), (":", 1), ("A", 2), (URL, 33)]),
    ("facebook-token", &["EA", "A"], &[(ALNUM, 160)]),
    (
        "twitter-token",
        &["AAAAAAAAAAAA", "AAAAAAAAAA"],
        &[(ALNUM, 80), ("%", 1), ("3", 1), ("D", 1)],
    ),
    ("linear-key", &["lin", "_api_"], &[(ALNUM, 40)]),
    ("notion-token", &["sec", "ret_"], &[(ALNUM, 43)]),
    ("notion-token", &["nt", "n_"], &[(ALNUM, 46)]),
    ("airtable-token", &["pa", "t"], &[(ALNUM, 14), (".", 1), (HEX, 64)]),
    ("figma-token", &["fig", "d_"], &[(URL, 40)]),
    ("stripe-key", &["sk_", "live_"], &[(ALNUM, 24)]),
    ("stripe-key", &["rk_", "live_"], &[(ALNUM, 24)]),
    ("stripe-key", &["sk_", "test_"], &[(ALNUM, 24)]),
    ("stripe-secret", &["wh", "sec_"], &[(ALNUM, 32)]),
    ("square-token", &["sq0", "atp-"], &[(URL, 22)]),
    ("braintree-token", &["access_token", "$production$"], &[(LOWER, 16), ("$", 1), (HEX, 32)]),
    ("shopify-token", &["shp", "at_"], &[(HEX, 32)]),
    ("shopify-token", &["shp", "ss_"], &[(HEX, 32)]),
    ("shopify-token", &["shp", "ca_"], &[(HEX, 32)]),
    ("sendgrid-key", &["S", "G."], &[(URL, 22), (".", 1), (URL, 43)]),
    ("mailgun-key", &["ke", "y-"], &[(HEX, 32)]),
    ("mailchimp-key", &[], &[(HEX, 32), ("-", 1), ("u", 1), ("s", 1), ("7", 1)]),
    ("anthropic-key", &["sk-", "ant-api03-"], &[(URL, 95)]),
    ("openai-key", &["sk-", "proj-"], &[(URL, 120)]),
    ("openai-key", &["sk", "-"], &[(ALNUM, 48)]),
    ("huggingface-token", &["h", "f_"], &[(ALNUM, 34)]),
    ("replicate-token", &["r", "8_"], &[(ALNUM, 37)]),
    ("groq-key", &["gs", "k_"], &[(ALNUM, 52)]),
    (
        "jwt",
        &["ey", "J"],
        &[(URL, 33), (".", 1), ("e", 1), ("y", 1), ("J", 1), (URL, 70), (".", 1), (URL, 43)],
    ),
];

/// Names before values that have no shape of their own.
const NAMED: &[(&str, &str, &str, usize)] = &[
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY", BASE64, 40),
    ("azure-key", "AZURE_CLIENT_SECRET", URL, 40),
    ("bitbucket-secret", "BITBUCKET_CLIENT_SECRET", ALNUM, 32),
    ("cloudflare-token", "CLOUDFLARE_API_TOKEN", URL, 40),
    ("datadog-key", "DATADOG_API_KEY", HEX, 32),
    ("datadog-key", "DD_APP_KEY", HEX, 40),
    ("discord-token", "DISCORD_CLIENT_SECRET", URL, 32),
    ("heroku-key", "HEROKU_API_KEY", HEX, 36),
    ("pagerduty-key", "PAGERDUTY_API_KEY", URL, 20),
    ("paypal-secret", "PAYPAL_CLIENT_SECRET", URL, 80),
    ("snowflake-secret", "SNOWFLAKE_PASSWORD", ALNUM, 16),
    ("twilio-secret", "TWILIO_AUTH_TOKEN", HEX, 32),
    ("vault-token", "VAULT_TOKEN", ALNUM, 26),
    ("vercel-token", "VERCEL_TOKEN", ALNUM, 24),
    ("password", "DB_PASSWORD", ALNUM, 14),
    ("password", "SMTP_PASSWD", ALNUM, 12),
    ("secret", "JWT_SECRET", ALNUM, 32),
    ("key", "SECRET_KEY_BASE", HEX, 128),
    ("token", "ACCESS_TOKEN", ALNUM, 30),
    ("key", "OPENWEATHER_API_KEY", HEX, 32),
    ("key", "ENCRYPTION_KEY", BASE64, 44),
    ("secret", "GOOGLE_CREDENTIALS", BASE64, 5000),
];

fn planted_token((kind, prefix, parts): &PlantedToken) -> (&'static str, String) {
    let seed = kind.len() + 31 * parts.len();
    let runs = parts.iter().zip(seed as u64..);
    let body = runs.map(|((alphabet, length), seed)| random(alphabet, *length, seed));
    (kind, prefix.iter().map(ToString::to_string).chain(body).collect())
}

/// Texts around a token, without a name that announces it.
fn contexts(secret: &str) -> Vec<String> {
    let filler = "lorem ipsum dolor ".repeat(300);
    [
        "§",
        "{\"note\":\"§\"}",
        "{\\\"content\\\":\\\"see \\\\\\\"§\\\\\\\" there\\\"}",
        "deploy run § --fast | tee log",
        "deploy --with='§'",
        "setting: §\nother: 1",
        "let x = \"§\";",
        "x = call('§', 3)",
        "FOO=§\nBAR=1",
        "FOO=\"§\"",
        "I used §, and it worked.",
        "It is §.",
        "(§)",
        "first line\\n§\\nlast line",
        "   12→§",
        "+§",
        "é § é",
        "| § | 3 |",
        "`§`",
        "https://host/path?x=§&y=2",
    ]
    .iter()
    .map(|setting| setting.replace("§", secret))
    .chain([format!("{filler}{secret} {filler}")])
    .collect()
}

/// Ways to assign a value to a name.
fn assignments(name: &str, secret: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    [
        "NAME=§",
        "export NAME=§",
        "NAME=\"§\" ./run",
        "NAME='§'",
        "docker run -e NAME=§ image",
        "x\\nNAME=§\\ny",
        "{\"name\": \"§\"}",
        "{\\\"name\\\": \\\"§\\\"}",
        "{\\\\\\\"NAME\\\\\\\":\\\\\\\"§\\\\\\\"}",
        "name: §",
        "  name: \"§\"",
        "name = \"§\"",
        "name = '§'",
        "name = §",
        "const name = `§`;",
        "let name: &str = \"§\";",
        "name: string = '§'",
        "config[\"name\"] = \"§\"",
        "os.environ['NAME'] = '§'",
        "process.env.NAME = \"§\"",
        "name => '§'",
        "if name == \"§\" {",
        "--name=§",
        "--name § run",
        "--name \"§\"",
        "<name>§</name>",
        "?a=1&name=§&b=2",
        "my name is §",
        "name: Some(\"§\".into())",
        "define('NAME', '§');",
        "   12→NAME=§",
        "+NAME=§",
        "# NAME=§",
        "the NAME: §, as agreed",
    ]
    .iter()
    .map(|setting| setting.replace("NAME", name).replace("name", &lower).replace("§", secret))
    .collect()
}

/// Secrets recognized by their place: kind, text before, secret, text after.
fn placed_secrets() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let word = || random(ALNUM, 14, 77);
    let body = || random(BASE64, 64, 5);
    let key = |heading: &str| {
        let lines: String = (0..12).map(|seed| random(BASE64, 64, seed) + "\n").collect();
        format!("-----BEGIN {heading}-----\n{lines}-----END {heading}-----")
    };
    let escaped = |heading: &str| key(heading).replace('\n', "\\n");
    let numbered = |heading: &str| key(heading).replace('\n', "\n    17→");
    vec![
        ("private-key", "key:\n", key("RSA PRIVATE KEY"), "\ndone"),
        ("private-key", "", key("EC PRIVATE KEY"), ""),
        ("private-key", "", key("OPENSSH PRIVATE KEY"), ""),
        ("private-key", "", key("ENCRYPTED PRIVATE KEY"), ""),
        ("private-key", "", key("PGP PRIVATE KEY BLOCK"), ""),
        (
            "private-key",
            "{\"type\": \"service_account\", \"private_key\": \"",
            escaped("PRIVATE KEY") + "\\n",
            "\"}",
        ),
        ("private-key", "     1→", numbered("PRIVATE KEY"), ""),
        (
            "private-key",
            "cut: ",
            key("RSA PRIVATE KEY").split("-----END").next().unwrap_or("").trim_end().to_owned(),
            "\n",
        ),
        (
            "private-key",
            "",
            format!("{}{}", "b3BlbnNza", "C1rZXktdjE") + &body() + "\n" + &body(),
            "\n",
        ),
        ("private-key", "", "MIIEpA".to_owned() + "IBAAKCAQEA" + &body() + "\n" + &body(), "\n"),
        (
            "putty-key",
            "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2",
            format!("\n{}\n{}", body(), body()),
            "\nPrivate-MAC: 12",
        ),
        ("password", "postgres://app:", word(), "@db.internal:5432/app"),
        ("password", "DATABASE_URL=mysql://root:", word(), "@127.0.0.1/app"),
        ("password", "mongodb+srv://me:", word(), "@cluster0.mongodb.net/?retryWrites=true"),
        ("password", "\"redis://:", word(), "@cache:6379/0\""),
        ("password", "amqp://guest:", word(), "@rabbit:5672/%2f"),
        ("password", "git clone https://me:", word(), "@host.org/me/repo.git"),
        ("password", "git remote add o https://", random(HEX, 40, 3), "@host.org/me/repo.git"),
        ("password", "Server=db;Database=app;User Id=sa;Password=", word(), ";Encrypt=true"),
        ("password", "Server=db;Uid=sa;Pwd=", word(), ";"),
        ("password", "jdbc:sqlserver://db:1433;user=sa;password=", word(), ";encrypt=true"),
        ("password", "jdbc:postgresql://db/app?user=me&password=", word(), "&ssl=true"),
        (
            "azure-key",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
            random(BASE64, 86, 2) + "==",
            ";EndpointSuffix=core.windows.net",
        ),
        (
            "azure-key",
            "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=",
            random(BASE64, 43, 2) + "=",
            "",
        ),
        (
            "signature",
            "https://a.blob.core.windows.net/c?sv=2024-01-01&se=2026&",
            format!("{}{}%3D", "sig=", random(BASE64, 43, 8)),
            "&sp=r",
        ),
        ("sentry-dsn", "https://", random(HEX, 32, 4), "@o12345.ingest.sentry.io/67890"),
        ("bearer-token", "curl -H 'Authorization: Bearer ", word(), "' https://api"),
        ("bearer-token", "{\\\"Authorization\\\": \\\"Bearer ", random(URL, 40, 6), "\\\"}"),
        ("bearer-token", "headers[\"authorization\"] = \"token ", random(HEX, 40, 6), "\""),
        ("bearer-token", "it sends Bearer ", random(URL, 40, 6), " each time"),
        ("basic-auth", "Authorization: Basic ", "YWRtaW46c2Vzc".to_owned() + "W9uYmVhcg==", "\n"),
        (
            "basic-auth",
            "Proxy-Authorization: Basic ",
            "dXNlcjpjb3Jy".to_owned() + "ZWN0aG9yc2U=",
            "",
        ),
        (
            "basic-auth",
            "{\"auths\": {\"ghcr.io\": {\"auth\": \"",
            "dXNlcjpjb3Jy".to_owned() + "ZWN0aG9yc2U=",
            "\"}}}",
        ),
        ("cookie", "Cookie: theme=dark; session_id=", random(HEX, 32, 9), "; lang=en"),
        ("cookie", "Set-Cookie: sid=", random(URL, 32, 9), "; Path=/; HttpOnly"),
        ("cookie", "-H \"cookie: _app=", random(URL, 44, 9), "\""),
        (
            "webhook",
            "https://hooks.slack.com/services/",
            format!("T{}/B{}/{}", random(UPPER, 9, 1), random(UPPER, 9, 2), random(ALNUM, 24, 3)),
            " posted",
        ),
        (
            "webhook",
            "https://discord.com/api/webhooks/",
            format!("{}/{}", random(DIGITS, 18, 1), random(URL, 68, 3)),
            "\"",
        ),
        (
            "discord-token",
            "the discord bot uses ",
            format!("M{}.G{}.{}", random(ALNUM, 25, 1), random(URL, 5, 2), random(URL, 38, 3)),
            " today",
        ),
        ("twilio-secret", "our twilio key ", format!("S{}{}", "K", random(HEX, 32, 4)), " is new"),
        ("vault-token", "X-Vault-Token: ", format!("s.{}", random(ALNUM, 24, 5)), "\n"),
        ("token", "//registry.npmjs.org/:_authToken=", random(HEX, 36, 3), "\n"),
        ("token", "//registry.npmjs.org/:_auth=", random(ALNUM, 32, 3), "\n"),
        ("password", "[pypi]\nusername = me\npassword = ", word(), "\n"),
        ("password", "machine api.host.org login me password ", word(), "\n"),
        ("password", "curl -u admin:", word(), " https://host/x"),
        ("password", "curl -s --user 'admin:", word(), "' https://host/x"),
        ("password", "mysql -u root -p", word(), " app < dump.sql"),
        ("password", "mysqldump --host db -p'", word(), "' app"),
        ("password", "sshpass -p ", word(), " ssh me@host"),
        ("password", "redis-cli -h cache -a ", word(), " ping"),
        ("password", "docker login -u me -p ", word(), " ghcr.io"),
        ("password", "openssl rsa -passin pass:", word(), " -in key"),
        ("password", "openssl enc -aes-256-cbc -k ", random(HEX, 32, 4), " -in a"),
        ("password", "twine upload -u me -p ", random(HEX, 40, 4), " dist/*"),
        ("password", "zip -r -P ", random(HEX, 32, 4), " a.zip src"),
        ("password", "mongo -u me -p", random(HEX, 32, 4), " app"),
        (
            "bearer-token",
            "curl -H Authorization:\\ Bearer\\ ",
            random(HEX, 32, 4),
            " https://host/x",
        ),
        ("token", "vault login ", random(HEX, 40, 4), "\n"),
        ("password", "kubectl create secret generic a --from-literal=pin=", random(HEX, 40, 4), ""),
        ("password", "CREATE USER 'me' IDENTIFIED BY '", random(HEX, 40, 4), "';"),
        (
            "kubernetes-secret",
            "apiVersion: v1\nkind: Secret\ndata:\n  note: ",
            random(BASE64, 24, 4),
            "\ntype: Opaque\n",
        ),
        (
            "kubernetes-secret",
            "apiVersion: v1\ndata:\n  ca.crt: ",
            random(BASE64, 24, 4),
            "\nkind: Secret\n",
        ),
        (
            "kubernetes-secret",
            "kind: Secret\nstringData:\n  first: ab\n  note: \"",
            "blue!horse".to_owned(),
            "\"\n",
        ),
        (
            "kubernetes-secret",
            "{\"data\": {\"a\": \"\", \"ca.crt\": \"",
            random(BASE64, 24, 4),
            "\"}, \"kind\": \"Secret\"}",
        ),
        ("password", "auth: { user: 'me', pass: '", "k7mongoose".to_owned(), "' }"),
        ("password", "the password is ", random(ALNUM, 16, 4), ", keep it"),
        ("password", "{\"password\": \"", "correcthorse".to_owned(), "\"}"),
        ("password", "password: ", "hunter22".to_owned(), "\n"),
        ("password", "ADMIN_PASSWORD=", "correct(horse)&battery".to_owned(), "\n"),
        ("password", "password = \"", "agh Multi Word ".to_owned() + "Pass_ahQ", "\""),
        ("password", "{\"password\": \"", "my horse 4battery!".to_owned(), "\"}"),
        ("password", "DB_PASSWORD=\"", "three plain words".to_owned(), "\"\n"),
        ("password", "Passwort: ", "Sommer2041x".to_owned(), "\n"),
        ("password", "kennwort=\"", "sonnenblume7".to_owned(), "\""),
        ("password", "password=\"", "my-example-Pa55w0rd9".to_owned(), "\""),
        ("key", "key='", "wAaaXUtnFEMI/K7MDaaG/".to_owned() + "bPxRfiCYEXAMaaAKEY", "'"),
        ("key", "\"key\": \"", random(ALNUM, 40, 7), "\""),
        ("secret", "SESSION_SECRET=", "keyboard-cat-and-more".to_owned(), "\n"),
    ]
}

/// Places where any value is a secret: kind, and text with `§` for the value.
const POSITIONS: &[(&str, &str)] = &[
    ("bearer-token", "Authorization: Bearer §\nAccept: */*"),
    ("bearer-token", "> authorization: bearer §"),
    ("bearer-token", "Authorization: Token §"),
    ("bearer-token", "Authorization: ApiKey §"),
    ("bearer-token", "Authorization: ApiKey my-id:§"),
    ("bearer-token", "Authorization: Bot §"),
    ("bearer-token", "Authorization: GenieKey §"),
    ("bearer-token", "Authorization: SharedKey myaccount:§"),
    ("basic-auth", "Authorization: Basic §"),
    ("authorization", "Authorization: §"),
    ("authorization", "curl -H Authorization:§ https://host/x"),
    ("authorization", "Authorization: Token token=§"),
    ("authorization", "Authorization: Token token=\"§\", realm=\"app\""),
    (
        "authorization",
        "Authorization: Digest username=\"me\", realm=\"r\", uri=\"/a\", response=\"§\"",
    ),
    ("authorization", "Authorization: Hawk id=\"dh37\", ts=\"1353832234\", mac=\"§\""),
    (
        "authorization",
        "Authorization: AWS4-HMAC-SHA256 Credential=me/20260101/eu/s3/aws4_request, SignedHeaders=host;range, Signature=§",
    ),
    ("authorization", "Authorization: OAuth oauth_version=\"1.0\", oauth_token=\"§\""),
    ("bearer-token", "Proxy-Authorization: Custom §"),
    ("bearer-token", "{\"Authorization\": \"Bearer §\"}"),
    ("bearer-token", "headers = {'Authorization': f'Token §'}"),
    ("bearer-token", "req.Header.Set(\"Authorization\", \"Bearer §\")"),
    ("bearer-token", "curl -H \"Authorization: Bearer §\" https://host/x"),
    ("bearer-token", "authorization = \"Bearer §\""),
    ("key", "X-Api-Key: §\n"),
    ("key", "{\"x-api-key\": \"§\"}"),
    ("key", "{'X-Api-Key': '§'}"),
    ("key", "headers.set('X-Api-Key', '§')"),
    ("key", "x-api-key = \"§\""),
    ("key", "X-Functions-Key: §"),
    ("key", "Api-Key: §"),
    ("key", "apikey: §"),
    ("key", "Ocp-Apim-Subscription-Key: §"),
    ("token", "X-Auth-Token: §"),
    ("token", "X-Acme-Token: §"),
    ("secret", "X-Acme-Secret: §"),
    ("token", "PRIVATE-TOKEN: §"),
    ("token", "http host/x Private-Token:§"),
    ("token", "X-Auth: §"),
    ("token", "X-Shopify-Access-Token: §"),
    ("token", "X-Amz-Security-Token: §"),
    ("token", "X-Session-Id: §"),
    ("token", "{\"X-Session-Id\": \"§\"}"),
    ("token", "curl -H 'X-Session-Token: §' https://host/x"),
    ("signature", "X-Hub-Signature: sha1=§"),
    ("signature", "X-Hub-Signature-256: sha256=§"),
    ("signature", "req.headers['X-Hub-Signature-256'] = 'sha256=§'"),
    ("signature", "X-Line-Signature: §"),
    ("cookie", "Cookie: id=§"),
    ("cookie", "Cookie: theme=dark; session=§; lang=en"),
    ("cookie", "Set-Cookie: id=§; Path=/; HttpOnly"),
    ("cookie", "document.cookie = \"sid=§\""),
    ("cookie", "cookies = {'lang': 'en', 'sessionid': '§'}"),
    ("cookie", "\"cookie\": \"a=1; connect.sid=§\""),
    ("cookie", "curl -s -b 'sid=§' https://host/x"),
    ("cookie", "curl --cookie \"sid=§\" https://host/x"),
    ("token", "https://host/x?token=§"),
    ("token", "https://host/x?a=1&access_token=§&b=2"),
    ("token", "https://host/cb#access_token=§&token_type=bearer"),
    ("token", "https://host/x?a=1\\u0026token=§"),
    ("key", "GET /x?api_key=§ HTTP/1.1"),
    ("key", "https://host/x?a=1&apikey=§"),
    ("token", "https://host/x?session=§"),
    ("token", "https://host/x?a=1&session_id=§&b=2"),
    ("token", "https://host/x?a=1&sessionId=§"),
    ("token", "GET /x?sid=§ HTTP/1.1"),
    ("signature", "https://host/x?a=1&sig=§&b=2"),
    ("signature", "<a href=\"https://host/x?a=1&amp;sig=§\">"),
    ("signature", "https://bucket.host/x?X-Amz-Date=20260101&X-Amz-Signature=§"),
    ("signature", "https://bucket.host/x?X-Goog-Signature=§"),
    ("key", "https://maps.host/x?key=§"),
    ("key", "https://host/x?a=1&access_key=§"),
    ("token", "https://host/x?auth=§"),
    ("token", "https://host/login?ticket=§&a=1"),
    ("token", "https://host/x?a=1&ticket=§"),
    ("token", "https://host/x?assertion=§"),
    ("signature", "https://host/x?signature=§"),
    ("token", "https://host/callback?code=§&state=1"),
    ("password", "https://host/login?user=me&password=§"),
    ("password", "git clone https://me:§@host.org/me/repo.git"),
    ("password", "git clone https://§@host.org/me/repo.git"),
    ("password", "curl -u me:§ https://host/x"),
    ("password", "curl -sSu me:§ https://host/x"),
    ("password", "curl -ume:§ https://host/x"),
    ("password", "curl --user=me:§ https://host/x"),
    ("password", "curl https://host/x -u \"§:\""),
    ("password", "[\"curl\", \"-u\", \"me:§\"]"),
    ("password", "http -a me:§ host/x"),
    ("password", "xh -a me:§ host/x"),
    ("password", "xhs -a me:§ host/x"),
    ("password", "http -v -a me:§ https://host/x"),
    ("password", "http -va me:§ host/x"),
    ("password", "http https://http.host/x -a me:§"),
    ("password", "http --auth me:§ host/x"),
    ("password", "https --auth=me:§ host/x"),
    ("password", "http --auth-type digest --auth 'me:§' host/x"),
    ("password", "[\"http\", \"--auth\", \"me:§\"]"),
    ("password", "xh --json --auth=me:§ host/x"),
    ("password", "xhs POST host/x a=1 -a me:§"),
    ("password", "xh -A bearer -a § host/x"),
    ("password", "curl https://curl.host/x -u me:§"),
    ("password", "requests.get(url, auth=('me', '§'))"),
    ("password", "req.SetBasicAuth(\"me\", \"§\")"),
    ("password", "mysql -u root -p§ app"),
    ("password", "docker exec db mysql -uroot -p'§' app"),
    ("password", "[\"mysqldump\", \"-uroot\", \"-p§\"]"),
    ("password", "mysqldump --password=§ app"),
    ("password", "mariadb-dump -p§ app"),
    ("password", "mysqladmin -u root -p§ status"),
    ("password", "mycli -p§ app"),
    ("password", "mycli -u root -p § app"),
    ("password", "mycli --pass § app"),
    ("password", "mydumper -p § -B app"),
    ("password", "cypher-shell -u neo4j -p § 'RETURN 1'"),
    ("password", "beeline -n me -p § -e 'show tables'"),
    ("password", "valkey-cli -a § ping"),
    ("password", "iredis -a § ping"),
    ("password", "mosquitto_pub -u me -P § -t a -m b"),
    ("password", "ldapmodify -D cn=admin -w § -f a.ldif"),
    ("password", "rabbitmqctl add_user me §"),
    ("password", "rabbitmqctl -n rabbit@host add_user 'me' '§'"),
    ("password", "rabbitmqctl change_password me § && echo done"),
    ("password", "[\"rabbitmqctl\", \"add_user\", \"me\", \"§\"]"),
    ("password", "echo § | docker login -u me --password-stdin ghcr.io"),
    ("password", "echo -n \"§\" | docker login --username me --password-stdin"),
    ("password", "printf '%s' '§' | podman login --password-stdin ghcr.io"),
    ("password", "docker login --password-stdin ghcr.io <<< '§'"),
    ("password", "echo § | gh auth login --with-token"),
    ("password", "echo § | sudo -S apt update"),
    ("password", "mongosh -u me -p § host/app"),
    ("password", "mongodump -u me --password § --db app"),
    ("password", "redis-cli -h cache -a § ping"),
    ("password", "redis-cli --pass § ping"),
    ("password", "sqlcmd -S host -U sa -P § -Q 'select 1'"),
    ("password", "sqlcmd -S host -U sa -P§"),
    ("password", "mssql-cli -S host -U sa -P § -Q 'select 1'"),
    ("password", "sqlplus -S me/§@db @scripts/run.sql"),
    ("password", "sqlplus 'me/§@//host:1521/app'"),
    ("password", "sqlplus me/\"§\"@db"),
    ("password", "cqlsh -u me -p § host"),
    ("password", "PGPASSWORD=§ psql -h db -p 5432"),
    ("password", "MYSQL_PWD=§ mysql app"),
    ("token", "REDISCLI_AUTH=§ redis-cli ping"),
    ("webhook", "https://discord.com/api/v10/webhooks/123456789012345678/§"),
    ("webhook", "https://open.feishu.cn/open-apis/bot/v2/hook/§"),
    ("webhook", "https://acme.webhook.office.com/webhookb2/§"),
    ("webhook", "https://outlook.office.com/webhook/§/IncomingWebhook/a/b"),
    ("telegram-token", "curl https://api.telegram.org/bot123456789:§/getMe"),
];

/// Values that are hashes or ids anywhere else: random ones and made-up ones.
fn hash_values(seed: u64) -> [String; 7] {
    let hex = |length| random(HEX, length, seed);
    let uuid = [8, 4, 4, 4, 12].map(hex).join("-");
    let made_up = ["abcdef1234567890", "deadbeefcafebabe", "12345678-1234-1234-1234-123456789abc"];
    let [first, second, third] = made_up.map(str::to_owned);
    [hex(32), hex(40), hex(64), uuid, first, second, third]
}

/// Generates a bot token: a number in base64, a time, a signature.
fn discord_token(number: u64, seed: u64) -> String {
    let digits = (number + seed).to_string();
    let number: String = digits.as_bytes().chunks(3).map(in_base64).collect();
    format!("{number}.{}.{}", random(URL, 6, seed), random(URL, 38, seed + 1))
}

fn in_base64(three: &[u8]) -> String {
    let bits =
        three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
    let letter =
        |place: u32| char::from(BASE64.as_bytes()[(bits >> (18 - 6 * place)) as usize & 63]);
    (0..=three.len() as u32).map(letter).collect()
}

/// Returns the fault in a text's redaction: part of the secret remains, the kind is missing, or
/// redacting again changes the result.
fn redaction_fault(text: &str, secret: &str, kind: &str) -> Option<String> {
    let redacted = redact(text);
    let is_left = |piece: &[u8]| redacted.as_bytes().windows(piece.len()).any(|part| part == piece);
    let mut pieces = secret.as_bytes().windows(secret.len().min(10));
    let is_leaking = pieces.any(|piece| !piece.contains(&b'-') && is_left(piece));
    let is_named = redacted.contains(&format!("[redacted:{kind}]"));
    let is_stable = redact(&redacted) == redacted;
    let is_right = !is_leaking && is_named && is_stable;
    (!is_right).then(|| format!("{kind}: `{text}` became `{redacted}`"))
}

#[test]
fn tokens_are_redacted_in_every_context() {
    let tokens = TOKENS.iter().map(planted_token);
    let faults = tokens.flat_map(|(kind, secret)| {
        contexts(&secret).into_iter().filter_map(move |text| redaction_fault(&text, &secret, kind))
    });
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn named_values_are_redacted_in_every_notation() {
    let mut faults = Vec::new();
    for (seed, (kind, name, alphabet, length)) in NAMED.iter().enumerate() {
        let secret = random(alphabet, *length, seed as u64);
        let texts = assignments(name, &secret).into_iter();
        faults.extend(texts.filter_map(|text| redaction_fault(&text, &secret, kind)));
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn secrets_are_redacted_in_known_places() {
    let mut faults = Vec::new();
    for (kind, before, secret, after) in placed_secrets() {
        let text = format!("{before}{secret}{after}");
        let redacted = redact(&text);
        let is_kept = redacted.starts_with(before) && redacted.ends_with(after);
        faults.extend(redaction_fault(&text, &secret, kind));
        faults.extend((!is_kept).then(|| format!("`{text}` became `{redacted}`")));
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn hashes_in_secret_positions_are_redacted() {
    assert!(POSITIONS.len() >= 80);
    let mut faults = Vec::new();
    for (seed, (kind, place)) in POSITIONS.iter().enumerate() {
        for secret in hash_values(seed as u64) {
            let text = place.replace('§', &secret);
            faults.extend(redaction_fault(&text, &secret, kind));
            faults.extend(redaction_fault(&in_json(&text), &secret, kind));
            faults.extend(redaction_fault(
                &in_json(&in_json(&format!("see {text}"))),
                &secret,
                kind,
            ));
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn discord_bot_tokens_are_redacted_anywhere() {
    let numbers = [198_622_483_471_925_248, 1_189_345_678_901_234_567, 84_484_653_687_267_328];
    let tokens = (1..).zip(numbers).flat_map(|(seed, number)| {
        let drawn = [random(ALNUM, 25, seed), random(URL, 6, seed), random(URL, 38, seed)];
        [discord_token(number, seed), format!("M{}", drawn.join("."))]
    });
    let faults = tokens.flat_map(|secret| {
        let texts = contexts(&secret).into_iter();
        texts
            .filter_map(move |text| redaction_fault(&text, &secret, "discord-token"))
            .collect::<Vec<_>>()
    });
    assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn secrets_in_json_lines_are_redacted() {
    let mut faults = Vec::new();
    for (kind, before, secret, after) in placed_secrets() {
        let line = in_json(&format!("{before}{secret}{after}"));
        faults.extend(redaction_fault(&line, &in_json(&secret), kind));
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn the_corpus_is_wide_enough() {
    let tokens = TOKENS.iter().map(|row| row.0);
    let named = NAMED.iter().map(|row| row.0);
    let places = placed_secrets();
    let kinds: BTreeSet<_> = tokens.chain(named).chain(places.iter().map(|row| row.0)).collect();
    assert!(kinds.len() >= 45, "{} kinds", kinds.len());
    assert!(TOKENS.len() + NAMED.len() + places.len() >= 60);
}
