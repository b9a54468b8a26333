//! Commit hashes, in the contexts that git and its users write, are never redacted.

use super::*;

/// Hashes of public repositories, full and abbreviated by git.
const HASHES: &str = "\
    ea02ce98 b2e5c128dd1fa3400ec4175d82984b34c976a5b8 48606f1712c3 d256e9c f9bec13 \
    82b709760ad5561b3df0e48ab7b4c0289fdc73e0 3f9f5615 999fd87d dfcf0663 6d8b2dd cf6a406e f81bd2c \
    d36bcc0e e855fa26 c39b8da 37ebcde1 9c7dffcc 3eae7bed da941b9 5301fef 175ce87 0e3823920c86 \
    a3a1c433 af218703f903 ac53b1140d74 aef80a4 86430af4 03cb132 d808e77e 4c0462d78 404214e2 \
    288a28ad09abbfbb99a77cdebb779c5a0597e9e8 69f0d48c d8afdeb856779039e04685b9f6f8b2779ef4419a \
    5b87dfe af961c66 ba1b9eb1256baf27b80dd2dd30fc909a5af6d276 d6690e4 d16e6c9a 05405ed41 8b97f30 \
    e330136 f2635a5 7f4f4426 c895c0739bca43129e4ec2aeb12f0718971ee916 75bb028 \
    3d6a048c55c7711d2a097852c747beaefac6b5ae 509cf73c 6bf41130 8fbec31b 7ea4fde d2ef7835 \
    08982b5f 527a7df6 61b2bd6 439202c881904a4312f65c3983593c591346808d 02191bf f5a6eed0 \
    8f4f7c890cce9f35bf4e0cedcdd26ea6d82aa04b dc8ac334 dbee81f 7ad1fc54 41f0249e 06c40f6d2 \
    9571a23e deb77ad e4ad436ad fd229fb5 89b210f 45df707c90efb256896d4dd27615c6c0458247f9 f769a3d \
    aaa7d7a b5cf65b7596ea76b8e90f4a94f4009070b056b8b a87a7777 572f978 \
    369627091e7819f2ad11f898ed8c0463bc9b5370 88ddbe0b0a4dd13cc345996108c9869493f2c690 3329cbd9 \
    dc32909f 5ff2118 52e7392 fdfeb1c3 82df1d8a49a9 1f8685a \
    ec61f9f9d707ec48712b0e75a3ef49ee6b61887e f55b36c6 21da6a6e69203fc480ac49ad6b0c71865999538d \
    9f0128157fcf81b4b151ac2d5b1fbb21cdef8037 2f3c849b b461dd1 218d7361 d31f9d0b 92811d81 febf830 \
    f69156a 5b1cc26 fdf2aaf1 8ebd86be edcf3c88f3fb582e84358b385c49d33d04c04224 c48fb0702 \
    09a002fb d7c8d0b7d01bb9d09d6bccb0ef8805d767b667b5 f59e610 4d00d85c ae1d8e08 9cee5dad9 \
    38cd6b4f9242e6cf985783a07ee1a790a77ee613 5880bb5 c2b02731e4c289c3e2a12b09de6dd8018917cf95 \
    c0dd4af9130104b523631fa53eccef4496bde482 5313f43ad22a 9cb4000a7190 20823f80 \
    dfb5a6a901084040b53cb5dd1bb559491b8ed73a ef25b3c9c 0e549a7 2605bad \
    667da6d27c43c04b92824c76d0fa7c40bf6ddaf1 616c2156 f5deb1fb7 3a1d3a9d 43ead9c 9c0081a3 \
    6b5e9f66 72a7142b655090da456035181f15211ef2f11dca 3c721267 9669be7 56cde22 cdb4bfe8 bbc15163 \
    e932eb765b96ae82fc5961808692a4b50e80420d aef32eb 4e072f0 055ca502 d546e782 \
    dfba508342655952248ebac6aa09221e66a10903 36ff9a90022b2cd83719cfb357a8680bb5add24e 096a340b \
    183e77b 41ce948c 2541af758 b8f686f1 8be5f3a 8857a5c1 feefbe97 45df707 6ca42818 abd6676c \
    4afc7ae8 c5b176469 306e8f06 4c2a062b d8947595 48d8a522bfc7f889a5704f8415d29e939f529da9 \
    ead842acf2e2 463bbce bd13adc0 6a84b565 3a182205 85b3faf0a202911526e388712dc1571545d9e2ff \
    c5637f17ab29acdc4f3863a368bdb6512e06525c 1d1cd9ab9dff3545565e468f178ce052dc2ce7a7 e6795e3 \
    8c39ae9 0456fa60 367ec8331b4c00429fd7148a5cd367ff125d54e0 ba747cfa \
    08ab66e92b0af166a505b4bb7ca0a4dbde64dd8c aa8fd55 4c0f1c245b1a3ec1291bf05430b75dd858bf3333 \
    5074a133bd4b 28ecf4e462795723f3169452cf97bd823bdc3d07 ba25764 95737cb2 09686ce 5725a780 \
    d4dfb91f 971e150bed953f26d13743903f1d6037389add21 a99e7b81 02ad067f \
    b50a1b28fe5dea419109f184186418bcd98011a1 ee894ec9eab6d786cc92e931b41f34d8feb3a494 \
    9f0f7454717542e37e4ad44d45e08d1f70b45518 963872f dc58c0bb 02e37f00 23603e370 e2626c86 \
    299ac3d ad7d921 09d79e4 c29a22e 30ebf2268d199c4db7bf14a31265fbbdf529f7ee cde01191 52f5a7d6 \
    4abb6d24 e02e3f81 2f0eb07 b3b07d16 c2b0273";

/// Contexts that a hash appears in.
const CONTEXTS: &[&str] = &[
    "commit §",
    "commit § (HEAD -> main, origin/main)\nAuthor: A <a@b.org>\n\n    Rotate the API token",
    "[main §] feat: read the token from the environment",
    "[fix/login (root-commit) §] Add the password reset",
    "git show § -- src/auth/token.rs",
    "git cherry-pick § && git push",
    "git revert --no-edit §",
    "git log --oneline\n§ fix: the session cookie expires\n",
    "index §..§ 100644\n--- a/src/secret.rs\n+++ b/src/secret.rs",
    "Merge: § §\nMerge branch 'token'",
    "HEAD is now at § Remove the api key",
    "   §..§  main -> main",
    "https://github.com/acme/hull/commit/§",
    "\"commit\": \"§\"",
    "sha: §",
    "fixed in §, and the password form with it",
    "| § | auth | token refresh |",
    "rev = \"§\"",
    "uses: actions/checkout@§",
    "^§ (A 2026-01-02 10:00:00 +0000 12) let token = lexer.next();",
    "Authorization was fixed by §",
    "ETag: \"§\"",
    "http https://github.com/acme/hull/commit/§ -v",
    "mysql -e \"select '§'\" app",
    "echo § | xargs git show",
    "https://github.com/acme/hull/compare?ticket=ACME-12&from=§",
];

#[test]
fn commit_hashes_are_never_redacted() {
    let hashes: Vec<&str> = HASHES.split_whitespace().collect();
    assert_eq!(hashes.len(), 200);
    let texts = hashes.iter().flat_map(|hash| CONTEXTS.iter().map(|text| text.replace('§', hash)));
    let texts = texts.flat_map(|text| [in_json(&text), text]);
    let changed = texts.filter(|text| redact(text) != *text);
    assert_eq!(changed.collect::<Vec<_>>(), [""; 0]);
}
