//! The rules: for each keyword, how to find the secret around it.
//!
//! Shapes are slightly wider than today's tokens, because services change lengths. A shape that
//! also matches ordinary text requires random characters. Most keys without a shape of their own
//! are recognized by the name before them (`names`).

use std::ops::Range;

use super::scan::{ALNUM, Alphabet, BASE64, DIGIT, DOTTED, HEX, LOWER, PERCENT, UPPER, URL64};
use super::token::{CharRun, Proof, TokenPart, TokenShape, TokenStart};
use super::{Secret, assign, chat, header, kube, pem, shell, web};

/// A keyword, and how to find the secret around it.
pub(super) struct Rule {
    pub(super) keyword: &'static str,
    finder: Finder,
}

enum Finder {
    /// A token that contains the keyword in exactly this case.
    Token(&'static str, TokenShape),
    /// A function that finds the secret at a keyword, which matches in upper and lower case.
    Reader(fn(&[u8], Range<usize>, &mut Vec<Secret>)),
}

impl Rule {
    /// Adds the secrets around the keyword at `hit`.
    pub(super) fn find(&self, text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
        match &self.finder {
            Finder::Reader(read) => read(text, hit, found),
            Finder::Token(kind, shape) if text[hit.clone()] == *self.keyword.as_bytes() => {
                found.extend(shape.find(text, hit).map(|range| Secret { range, kind }));
            }
            Finder::Token(..) => {}
        }
    }

    const fn at_word(mut self) -> Self {
        if let Finder::Token(_, shape) = &mut self.finder {
            shape.edge = TokenStart::Word;
        }
        self
    }

    const fn random(mut self) -> Self {
        if let Finder::Token(_, shape) = &mut self.finder {
            shape.proof = Proof::Random;
        }
        self.at_word()
    }

    const fn after(mut self, alphabet: Alphabet, least: usize, most: usize) -> Self {
        if let Finder::Token(_, shape) = &mut self.finder {
            shape.before = Some(CharRun { alphabet, min: least, max: most });
        }
        self.at_word()
    }
}

const fn token(kind: &'static str, keyword: &'static str, parts: &'static [TokenPart]) -> Rule {
    let shape = TokenShape { before: None, edge: TokenStart::Any, parts, proof: Proof::Shape };
    Rule { keyword, finder: Finder::Token(kind, shape) }
}

const fn read(keyword: &'static str, reader: fn(&[u8], Range<usize>, &mut Vec<Secret>)) -> Rule {
    Rule { keyword, finder: Finder::Reader(reader) }
}

/// A name, or the end of one, that announces a secret.
const fn name(keyword: &'static str) -> Rule {
    read(keyword, assign::find)
}

/// A command that takes a password.
const fn command(keyword: &'static str) -> Rule {
    read(keyword, shell::find)
}

const fn run(alphabet: Alphabet, least: usize, most: usize) -> TokenPart {
    TokenPart::Run(CharRun { alphabet, min: least, max: most })
}

/// No upper limit, for tokens that may start anywhere: a run that is too long still starts with the
/// token.
const MANY: usize = usize::MAX;

const DOT: TokenPart = TokenPart::Text(".");
const HYPHEN: TokenPart = TokenPart::Text("-");

const ALNUM_16: &[TokenPart] = &[run(ALNUM, 16, MANY)];
const ALNUM_24: &[TokenPart] = &[run(ALNUM, 24, MANY)];
const ALNUM_30: &[TokenPart] = &[run(ALNUM, 30, MANY)];
const HEX_32: &[TokenPart] = &[run(HEX, 32, MANY)];
const URL_16: &[TokenPart] = &[run(URL64, 16, MANY)];
const URL_24: &[TokenPart] = &[run(URL64, 24, MANY)];
const DOTTED_16: &[TokenPart] = &[run(DOTTED, 16, MANY)];
const DOTTED_32: &[TokenPart] = &[run(DOTTED, 32, MANY)];
const UPPER_16: &[TokenPart] = &[run(UPPER, 16, 16)];
const JWT: &[TokenPart] = &[run(URL64, 8, MANY), DOT, run(DOTTED, 8, MANY)];

/// All rules. Where two find the same text, the more specific one determines the kind.
pub(super) const RULES: &[Rule] = &[
    // Clouds
    token("aws-access-key", "AKIA", UPPER_16).at_word(),
    token("aws-access-key", "ASIA", UPPER_16).at_word(),
    token("aws-access-key", "ABIA", UPPER_16).at_word(),
    token("aws-access-key", "ACCA", UPPER_16).at_word(),
    token("aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS", &[run(BASE64, 32, MANY)]),
    token("gcp-api-key", "AIza", &[run(URL64, 30, MANY)]),
    token("google-oauth-secret", "GOCSPX-", URL_16),
    token("google-access-token", "ya29.", URL_24),
    token("google-refresh-token", "1//0", URL_24).at_word(),
    token("azure-client-secret", "8Q~", &[run(DOTTED, 31, 34)]).after(DOTTED, 3, 3),
    token("digitalocean-token", "dop_v1_", HEX_32),
    token("digitalocean-token", "doo_v1_", HEX_32),
    token("digitalocean-token", "dor_v1_", HEX_32),
    token("heroku-key", "HRKU-", URL_24),
    token("netlify-token", "nfp_", ALNUM_24),
    token("vercel-token", "vercel_blob_rw_", &[run(ALNUM.with(b"_"), 24, MANY)]),
    token("cloudflare-token", "v1.0-", &[run(HEX, 24, 24), HYPHEN, run(HEX, 100, MANY)]).at_word(),
    token("fly-token", "FlyV1 fm", &[run(BASE64.with(b"_,"), 32, MANY)]),
    token("alibaba-access-key", "LTAI", &[run(ALNUM, 16, 26)]).random(),
    token("supabase-key", "sbp_", HEX_32),
    token("supabase-key", "sb_secret_", URL_16),
    token("planetscale-token", "pscale_tkn_", DOTTED_16),
    token("planetscale-token", "pscale_pw_", DOTTED_16),
    token("tailscale-key", "tskey-", URL_16),
    token("databricks-token", "dapi", HEX_32).at_word(),
    // Source and packages
    token("github-token", "ghp_", ALNUM_24),
    token("github-token", "gho_", ALNUM_24),
    token("github-token", "ghu_", ALNUM_24),
    token("github-token", "ghs_", ALNUM_24),
    token("github-token", "ghr_", ALNUM_24),
    token("github-token", "github_pat_", &[run(ALNUM.with(b"_"), 24, MANY)]),
    token("gitlab-token", "glpat-", DOTTED_16),
    token("gitlab-token", "gldt-", DOTTED_16),
    token("gitlab-token", "glrt-", DOTTED_16),
    token("gitlab-token", "glptt-", DOTTED_16),
    token("gitlab-token", "glcbt-", DOTTED_16),
    token("gitlab-token", "glsoat-", DOTTED_16),
    token("gitlab-token", "glagent-", DOTTED_16),
    token("gitlab-token", "GR1348941", URL_16),
    token("bitbucket-secret", "ATBB", &[run(ALNUM, 28, 64)]).at_word(),
    token("atlassian-token", "ATATT3x", &[run(URL64.with(b"="), 48, MANY)]),
    token("atlassian-token", "ATCTT3x", &[run(URL64.with(b"="), 48, MANY)]),
    token("npm-token", "npm_", ALNUM_30),
    token("pypi-token", "pypi-AgE", URL_24),
    token("crates-token", "cio", &[run(ALNUM, 32, 32)]).random(),
    token("rubygems-key", "rubygems_", HEX_32),
    token("nuget-key", "oy2", &[run(LOWER, 43, 43)]).random(),
    token("docker-token", "dckr_pat_", URL_16),
    token("docker-token", "dckr_oat_", URL_16),
    token("artifactory-key", "AKCp", &[run(ALNUM, 60, 80)]).at_word(),
    token("buildkite-token", "bkua_", HEX_32),
    token("circleci-token", "CCIPAT_", &[run(ALNUM.with(b"_"), 32, MANY)]),
    token("sourcegraph-token", "sgp_", &[run(ALNUM.with(b"_"), 40, MANY)]),
    // Secrets and observability
    token("vault-token", "hvs.", URL_16).at_word(),
    token("vault-token", "hvb.", URL_16).at_word(),
    token("vault-token", "hvr.", URL_16).at_word(),
    token("terraform-token", ".atlasv1.", &[run(URL64, 40, MANY)]).after(ALNUM, 14, 14),
    token("pulumi-token", "pul-", &[run(HEX, 40, 40)]).at_word(),
    token("doppler-token", "dp.pt.", ALNUM_30).at_word(),
    token("doppler-token", "dp.st.", DOTTED_32).at_word(),
    token("onepassword-token", "ops_eyJ", &[run(BASE64.with(b"_-"), 64, MANY)]),
    token("age-key", "AGE-SECRET-KEY-1", &[run(UPPER, 40, MANY)]),
    token("newrelic-key", "NRAK-", &[run(UPPER, 20, MANY)]),
    token("newrelic-key", "NRII-", &[run(URL64, 20, MANY)]),
    token("sentry-token", "sntrys_", &[run(BASE64.with(b"_-"), 32, MANY)]),
    token("sentry-token", "sntryu_", HEX_32),
    token("grafana-token", "glsa_", &[run(ALNUM.with(b"_"), 32, MANY)]),
    token("grafana-token", "glc_eyJ", &[run(BASE64, 32, MANY)]),
    token("jwt", "eyJ", JWT).at_word(),
    read("-begin ", pem::block),
    read("private-lines:", pem::putty),
    read("ibaakc", pem::bare_body),
    read("ibadanbgkqhkig9w0baqefaas", pem::bare_body),
    read("b3blbnnzac1rzxktdje", pem::bare_body),
    // Chat and design
    token("slack-token", "xoxb-", URL_16),
    token("slack-token", "xoxp-", URL_16),
    token("slack-token", "xoxa-", URL_16),
    token("slack-token", "xoxr-", URL_16),
    token("slack-token", "xoxs-", URL_16),
    token("slack-token", "xoxe-", URL_16),
    token("slack-token", "xoxe.xox", URL_16),
    token("slack-token", "xoxc-", URL_16),
    token("slack-token", "xoxd-", &[run(PERCENT, 24, MANY)]),
    token("slack-token", "xapp-", URL_16),
    read("hooks.slack.com/services/", chat::webhook),
    read("hooks.slack.com/workflows/", chat::webhook),
    read("discord.com/api/webhooks/", chat::webhook),
    read("discordapp.com/api/webhooks/", chat::webhook),
    read("hooks.slack.com/triggers/", chat::webhook),
    read("discord.com/api/v10/webhooks/", chat::webhook),
    read("discord.com/api/v9/webhooks/", chat::webhook),
    read("webhook.office.com/webhookb2/", chat::webhook),
    read("outlook.office.com/webhook/", chat::webhook),
    read("outlook.office365.com/webhook/", chat::webhook),
    read("feishu.cn/open-apis/bot/v2/hook/", chat::webhook),
    read("suite.com/open-apis/bot/v2/hook/", chat::webhook),
    read("hooks.zapier.com/hooks/catch/", chat::webhook),
    token("discord-token", "mfa.", &[run(URL64, 60, MANY)]).at_word(),
    read("legram.org/bot", chat::telegram),
    read("discord", chat::discord),
    token("telegram-token", ":AA", &[run(URL64, 32, 36)]).after(DIGIT, 6, 12),
    token("facebook-token", "EAA", &[run(ALNUM, 80, MANY)]).at_word(),
    token("twitter-token", "AAAAAAAAAAAAAAAAAAAA", &[run(ALNUM.with(b"%"), 70, MANY)]).at_word(),
    token("linear-key", "lin_api_", ALNUM_24),
    token("linear-key", "lin_oauth_", ALNUM_24),
    token("notion-token", "secret_", &[run(ALNUM, 40, 50)]).random(),
    token("notion-token", "ntn_", ALNUM_30),
    token("airtable-token", "pat", &[run(ALNUM, 14, 14), DOT, run(HEX, 40, 64)]).at_word(),
    token("figma-token", "figd_", URL_24),
    token("postman-key", "PMAK-", &[run(HEX, 24, 24), HYPHEN, run(HEX, 32, 36)]),
    token("dropbox-token", "sl.", &[run(URL64, 100, MANY)]).random(),
    token("contentful-token", "CFPAT-", URL_24),
    token("typeform-token", "tfp_", &[run(DOTTED, 40, MANY)]),
    // Payment and mail
    token("stripe-key", "sk_live_", ALNUM_16),
    token("stripe-key", "sk_test_", ALNUM_16),
    token("stripe-key", "rk_live_", ALNUM_16),
    token("stripe-key", "rk_test_", ALNUM_16),
    token("stripe-secret", "whsec_", &[run(BASE64, 24, MANY)]),
    token("square-token", "sq0atp-", URL_16),
    token("square-token", "sq0csp-", URL_16),
    token("square-token", "EAAA", &[run(URL64, 56, 64)]).at_word(),
    token(
        "braintree-token",
        "access_token$",
        &[
            run(LOWER, 7, 10),
            TokenPart::Text("$"),
            run(LOWER, 16, 16),
            TokenPart::Text("$"),
            run(HEX, 32, 32),
        ],
    ),
    token("shopify-token", "shpat_", HEX_32),
    token("shopify-token", "shpss_", HEX_32),
    token("shopify-token", "shpca_", HEX_32),
    token("shopify-token", "shppa_", HEX_32),
    read("twilio", web::twilio),
    token("sendgrid-key", "SG.", &[run(URL64, 16, 32), DOT, run(URL64, 32, 64)]).at_word(),
    token("brevo-key", "xkeysib-", URL_24),
    token("mailgun-key", "key-", &[run(HEX, 32, 32)]).at_word(),
    token("mailchimp-key", "-us", &[run(DIGIT, 1, 2)]).after(HEX, 32, 32),
    // Models
    token("anthropic-key", "sk-ant-", URL_16).at_word(),
    token("openai-key", "sk-proj-", URL_16).at_word(),
    token("openai-key", "sk-svcacct-", URL_16).at_word(),
    token("openrouter-key", "sk-or-v1-", HEX_32).at_word(),
    token("openai-key", "sk-", &[run(URL64, 20, MANY)]).random(),
    token("huggingface-token", "hf_", &[run(ALNUM, 30, 40)]).at_word(),
    token("replicate-token", "r8_", &[run(ALNUM, 30, 48)]).at_word(),
    token("groq-key", "gsk_", ALNUM_30).at_word(),
    token("perplexity-key", "pplx-", ALNUM_30).at_word(),
    token("xai-key", "xai-", &[run(ALNUM, 60, MANY)]).at_word(),
    // URLs, headers, documents and commands
    read("://", web::address),
    read("sig=", web::query),
    read("signature=", web::query),
    read("hmac=", web::query),
    read("key=", web::query),
    read("?code=", web::query),
    read("&code=", web::query),
    read("auth=", web::query),
    read("jwt=", web::query),
    read("session=", web::session),
    read("session_id=", web::session),
    read("sessionid=", web::session),
    read("sid=", web::session),
    read("ticket=", web::session),
    read("assertion=", web::session),
    read("auth=(", web::login),
    read("basicauth(", web::login),
    read("basic_auth(", web::login),
    read("authorization", header::authorization),
    read("bearer ", header::bearer),
    read("basic ", header::login),
    read("auth\"", header::auth_entry),
    read("auth\\\"", header::auth_entry),
    read("cookie", header::cookie),
    read("x-session-id", header::session),
    read("-signature", header::signature),
    read("kind: secret", kube::yaml),
    read("kind\"", kube::json),
    read("kind\\\"", kube::json),
    command("mysql"),
    command("mariadb"),
    command("mycli"),
    command("mydumper"),
    command("myloader"),
    command("cypher-shell"),
    command("beeline"),
    command("mosquitto"),
    command("sshpass"),
    command("redis-cli"),
    command("valkey-cli"),
    command("iredis"),
    command("docker login"),
    command("podman login"),
    command("az login"),
    command("mongo"),
    command("sqlcmd"),
    command("mssql-cli"),
    read("sqlplus", shell::sqlplus),
    command("ldap"),
    command("cqlsh"),
    command("curl"),
    read("http", shell::httpie),
    read("xh ", shell::httpie),
    read("xhs ", shell::httpie),
    read("rabbitmqctl", shell::rabbitmq),
    read("--password-stdin", shell::from_stdin),
    read("--with-token", shell::from_stdin),
    read("sudo -s ", shell::sudo),
    command("openssl"),
    command("twine"),
    command("zip"),
    read("vault login ", shell::vault_login),
    read("--from-literal", shell::from_literal),
    read("identified by ", shell::identified_by),
    // Names
    name("pass"),
    name("pwd"),
    name("secret"),
    name("token"),
    name("credential"),
    name("kennwort"),
    read("key", assign::find_key),
    name("_key"),
    name("-key"),
    name("apikey"),
    name("api key"),
    name("access key"),
    name("accesskey"),
    name("accountkey"),
    name("privatekey"),
    name("signingkey"),
    name("encryptionkey"),
    name("masterkey"),
    name("authkey"),
    name("appkey"),
    name("_pat"),
    name("_auth"),
    name("-auth"),
];
