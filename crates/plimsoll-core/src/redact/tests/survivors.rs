//! What looks like a secret to a hasty reader, and stays.

use super::*;

const SURVIVORS: &[&str] = &[
    // Hashes, ids and digests
    "commit 3f9a1c2",
    "commit 3f9a1c2d4e5f60718293a4b5c6d7e8f901234567",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "checksum = \"b4c1d2e3f405162738495a6b7c8d9e0f112233445566778899aabbccddeeff00\"",
    "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    "  checksum: 10c0/8d9ab3c1f0e2d4b5a6978812c3d4e5f60718293a4b5c6d7e8f9",
    "resolved \"https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#19203fb59991df98e3a287050d4647cdeaf32499\"",
    "session_id: 5f2c0a1e-8b7d-4c3f-9e2a-1b2c3d4e5f60",
    "{\"id\":\"toolu_01A9bC8dE7fG6hI5jK4lM3nO\",\"request\":\"req_011CQkR8sT7uV6wX5yZ4aB3c\"}",
    "\"message\":{\"id\":\"msg_01XyZ9aB8cD7eF6gH5iJ4kL3\"}",
    "\"promptId\":\"b7f3c9d1-2e4a-4f6b-8c8d-0a1b2c3d4e5f\",\"uuid\":\"0190c3a2-7b1e-7c3d-9f2a-4b5c6d7e8f90\"",
    "ETag: W/\"5d8c72a5edda8d6a5a3b1f3c\"",
    "docker.io/library/rust@sha256:9c1e0f6a7b8d2c3e4f5061728394a5b6c7d8e9f00112233445566778899aabbc",
    "index 83db48f..bf269f4 100644",
    "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "token: \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"",
    // Counts of tokens
    "84,000 tokens used of 200,000",
    "used_tokens=84000&max_tokens=200000",
    "max_tokens: 4096",
    "\"input_tokens\": 12345, \"cache_read_input_tokens\": 67890",
    "token_count = 1500",
    "tokens: 4096",
    "token: 84000",
    "tokens_per_minute: 100000",
    "| model | tokens | price per token |",
    "| token | 12,000 |",
    "the first token is the verb, the next token is the noun",
    "eos_token: \"<|endoftext|>\"",
    "\"next_token\": \"eyJ2ZXJzaW9uIjoxfQ\"",
    "nextPageToken=CAUQAA12345678",
    "\"progressToken\": \"a1b2c3d4e5f6\"",
    "tokenizer = Tokenizer::new(\"cl100k_base\")",
    // References
    "TOKEN=$TOKEN",
    "PASSWORD=${DB_PASSWORD}",
    "API_KEY=${{ secrets.API_KEY_V2 }}",
    "password: {{ vault_db_password_1 }}",
    "apiKey: process.env.OPENAI_API_KEY_2",
    "token = os.environ[\"GITHUB_TOKEN_1\"]",
    "token = os.getenv(\"API_TOKEN_V2\")",
    "let token = std::env::var(\"GITHUB_TOKEN\")?;",
    "SECRET=$(cat /run/secrets/app2)",
    "PASSWORD=%DB_PASSWORD%",
    "Authorization: Bearer ${token}",
    "Authorization: Bearer $TOKEN",
    "'Authorization': `Bearer ${process.env.TOKEN}`",
    "f\"Bearer {self.token}\"",
    "postgres://user:$PASSWORD@host/db",
    "postgres://user:${PASSWORD}@host/db",
    "postgres://<user>:<password>@host/db",
    "password = op://vault/item1/field2",
    "password: !vault |",
    "curl -u \"$USER:$PASS\" https://host",
    "mysql -u root -p\"$MYSQL_PWD\"",
    "mysql -u root -p app",
    // Placeholders
    "token: <your-token>",
    "API_KEY=your-api-key-here",
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "password: xxxxxxxx",
    "password: ********",
    "password: changeme",
    "POSTGRES_PASSWORD=postgres",
    "ANTHROPIC_API_KEY=sk-ant-...",
    "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxx",
    "token=test-token",
    "Bearer <token>",
    "token: null",
    "secret: undefined,",
    "password: \"\"",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "token: example-token-value",
    // Labels, and keys that open nothing
    "\"password\": \"Mot de passe\"",
    "password = \"Enter your old password\"",
    "password: \"Must have 8 characters\"",
    "grep \"password=\" a.txt b.txt c.txt",
    "key: \"src/components/Button/index2.stories.tsx\"",
    "key=\"user-profile-4f9a1c2d4e5f60718293a4b5\"",
    "key = 'aVeryLongButQuiteReadableNameOfACacheEntry'",
    // Code
    "password: string",
    "password: String,",
    "password?: string | undefined;",
    "token: Token",
    "pub fn token(&self) -> &Token {",
    "let token = self.next_token();",
    "const token = await getToken(user.id, 16);",
    "token = tokens[index2]",
    "token = response.json()[\"access\"]",
    "secret_name: \"my-app-config\"",
    "secretName: web-tls-2",
    "password: hash(password1),",
    "if (!password) throw new Error(\"password required\")",
    "passwordField.value = user.password2",
    "password: z.string().min(8)",
    "'password' => 'hashed',",
    "password: \"Password\",",
    "{ label: \"API key\", key: \"apiKey\" }",
    "primary_key = \"id_2\"",
    "cache_key: user_profile_v12",
    "impl Secret for Vault2 {}",
    "enum TokenKind { Ident, Number, String }",
    "class=\"sk-folding-cube sk-circle-fade-dot sk-bounce\"",
    "function a(t){var e=t.token,n=t.secret;return e?n:null}",
    "git config credential.helper store",
    "import { token } from './token'",
    // Options, paths and addresses
    "--token-file /run/token.txt",
    "gh auth login --with-token < token.txt",
    "docker login --password-stdin ghcr.io",
    "docker run -p 3306:3306 mysql:8",
    "use the --password option of the client",
    "src/auth/token_store.rs:42",
    "crates/secret-service/src/lib.rs",
    "/run/secrets/db_password",
    "cat ~/.config/app/credentials.json",
    "../../../etc/passwd next=2026-01-27-da8007e2",
    "https://github.com/org/secret-santa/blob/main/token.md",
    "https://user@host.org/path",
    "ssh://git@github.com:22/org/repo.git",
    "git@github.com:org/repo.git",
    "http://localhost:8080/reset?user=a@b.org",
    "PWD=/home/me/app2 OLDPWD=/home/me",
    "\"pwd\": \"osc99\"",
    "--- PASS: TestTruncate/at_u2 (0.00s)",
    "pass: 42, fail: 0",
    "--pass: #16a34a;",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n-----END CERTIFICATE-----",
    "looks for `-----BEGIN RSA PRIVATE KEY-----` and `-----END RSA PRIVATE KEY-----`",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk3bmV2ZXJ3YXNhcHJpdmF0ZWtleWF0YWxsaGVyZQ me@host",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "screenshot-8f3e9a1c7b2d4e6f.png",
    "jsonwebtoken = \"9.3.0\"",
    "\"@octokit/auth-token\": \"^4.0.0\"",
    "Cookie: theme=dark; lang=en",
    "WWW-Authenticate: Basic realm=\"admin\"",
    "basic authentication is enough",
    "[redacted:github-token]",
    "password: [redacted:password], token=[redacted:token]",
    "passphrase for key '/home/me/.ssh/id_ed25519':",
    "Passwort: mindestens 8 Zeichen",
    "kind: Secret\nmetadata:\n  name: db\n",
    "kind: Secret\nmetadata:\n  name: database\n  namespace: production\ntype: Opaque\n",
    "{\"kind\": \"Secret\", \"metadata\": {\"name\": \"database\", \"namespace\": \"production\"}}",
    "kind: ConfigMap\ndata:\n  theme: darkmode\n",
    "v1.2.3-rc.4+build.20240131",
];

#[track_caller]
fn check(texts: impl Iterator<Item = String>) {
    let changed = texts.filter(|text| redact(text) != *text);
    assert_eq!(changed.map(|text| redact(&text).into_owned()).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    assert!(SURVIVORS.len() >= 80);
    check(SURVIVORS.iter().map(ToString::to_string));
}

#[test]
fn it_stays_in_a_transcripts_line_too() {
    check(
        SURVIVORS
            .iter()
            .map(|text| format!("{{\"type\":\"user\",\"content\":\"{}\"}}", in_json(text))),
    );
}

#[test]
fn it_stays_between_other_lines() {
    check(SURVIVORS.iter().map(|text| format!("before\n{text}\nafter")));
}
