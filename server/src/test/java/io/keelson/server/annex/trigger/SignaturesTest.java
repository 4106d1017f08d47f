package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.trigger.Trigger.NewSource;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SignaturesTest {

    private static final String SLACK_BODY = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
            + "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect"
            + "&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F"
            + "96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

    private static boolean verify(NewSource source, List<String> secrets, String body, Instant now, String... headers) {
        Map<String, String> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 0; i < headers.length; i += 2) {
            given.put(headers[i], headers[i + 1]);
        }
        return Signatures.verify(source, secrets,
                new Signatures.Request(given::get, body.getBytes(StandardCharsets.UTF_8)), now);
    }

    private static NewSource source(String kind, String header, String user) {
        return new NewSource(kind, List.of("a"), header, user, null, 300);
    }

    private static boolean github(String secret, String body, String signature) {
        return verify(source("github", null, null), List.of("another", secret), body, Instant.EPOCH,
                "x-hub-signature-256", signature);
    }

    /** The example of GitHub's documentation. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "It's a Secret to Everybody | Hello, World! | sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17 | true",
            "It's a Secret to Everybody | Hello, World? | sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17 | false",
            "It's a secret to Everybody | Hello, World! | sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17 | false",
            "It's a Secret to Everybody | Hello, World! | 757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17 | false",
            "It's a Secret to Everybody | Hello, World! | sha256= | false",
            "It's a Secret to Everybody | Hello, World! | sha256=75 | false",
            "It's a Secret to Everybody | Hello, World! | sha256=no | false",
    })
    void githubSignsTheBody(String secret, String body, String signature, boolean valid) {
        assertThat(github(secret, body, signature)).isEqualTo(valid);
    }

    /** The example of Slack's documentation. */
    @ParameterizedTest
    @CsvSource(value = {"1531420618, true", "1531420918, true", "1531420919, false", "1531420317, false"})
    void slackSignsTimeAndBody(long now, boolean valid) {
        assertThat(verify(source("slack", null, null), List.of("8f742231b10e8888abcd99yyyzzz85a5"), SLACK_BODY,
                Instant.ofEpochSecond(now), "X-Slack-Request-Timestamp", "1531420618", "X-Slack-Signature",
                "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")).isEqualTo(valid);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "t=100,v1=GOOD | true", "t=100,v1=00,v1=GOOD,v0=1 | true", "t=100, v1=GOOD | true", "v1=GOOD | false",
            "t=101,v1=GOOD | false", "t=100,v0=GOOD | false", "t=100 | false", "t=100,v1= | false", "'' | false"})
    void stripeSignsTimeAndBody(String header, boolean valid) throws Exception {
        String good = TestEvents.hex("secret", "100.{}");

        assertThat(verify(source("stripe", null, null), List.of("secret"), "{}", Instant.ofEpochSecond(110),
                "Stripe-Signature", header.replace("GOOD", good))).isEqualTo(valid);
        assertThat(verify(source("stripe", null, null), List.of("secret"), "{}", Instant.ofEpochSecond(401),
                "Stripe-Signature", header.replace("GOOD", good))).isFalse();
    }

    @Test
    void standardSignsIdTimeAndBody() throws Exception {
        String encoded = Base64.getEncoder().encodeToString("0123456789abcdef".getBytes(StandardCharsets.UTF_8));
        String good = "v1," + TestEvents.base64("0123456789abcdef", "m.100.{}");
        NewSource source = source("standard", null, null);
        Instant now = Instant.ofEpochSecond(100);
        List<String> secrets = List.of("whsec_" + encoded);

        assertThat(verify(source, secrets, "{}", now, "webhook-id", "m", "webhook-timestamp", "100",
                "webhook-signature", "v1a,x " + good)).isTrue();
        assertThat(verify(source, List.of("0123456789abcdef"), "{}", now, "webhook-id", "m", "webhook-timestamp",
                "100", "webhook-signature", good)).isTrue();
        assertThat(verify(source, secrets, "{}", now, "webhook-id", "n", "webhook-timestamp", "100",
                "webhook-signature", good)).isFalse();
        assertThat(verify(source, secrets, "{}", now, "webhook-id", "m", "webhook-timestamp", "x",
                "webhook-signature", good)).isFalse();
        assertThat(verify(source, secrets, "{}", now, "webhook-id", "m", "webhook-timestamp", "100")).isFalse();
    }

    /** A secret that cannot be decoded must not lead to a key that others can guess. */
    @ParameterizedTest
    @CsvSource(value = {"whsec_", "whsec_%%%", "whsec_AAAA"})
    void secretsOfAnotherFormAreNoKnownKeys(String secret) throws Exception {
        for (byte[] key : List.of(new byte[1], new byte[3], new byte[32])) {
            assertThat(verify(source("standard", null, null), List.of(secret), "{}", Instant.ofEpochSecond(100),
                    "webhook-id", "m", "webhook-timestamp", "100", "webhook-signature",
                    "v1, v1," + Base64.getEncoder().encodeToString(TestEvents.hmac(key, "m.100.{}")))).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource(nullValues = "none",
            value = {"none, X-Webhook-Secret, pass word, true", "X-Token, x-token, pass word, true",
                    "X-Token, X-Webhook-Secret, pass word, false",
                    "Authorization, Authorization, Bearer pass word, true",
                    "none, X-Webhook-Secret, pass, false", "none, X-Webhook-Secret, '', false"})
    void secretIsCompared(String configured, String header, String value, boolean valid) {
        assertThat(verify(source("secret", configured, null), List.of("former", "pass word"), "", Instant.EPOCH,
                header, value)).isEqualTo(valid);
    }

    @ParameterizedTest
    @CsvSource(value = {"ann:pass, true", "bob:pass, false", "ann:past, false", "annpass, false", "'', false"})
    void userAndPasswordAreCompared(String pair, boolean valid) {
        assertThat(verify(source("basic", null, "ann"), List.of("pass"), "", Instant.EPOCH, "Authorization",
                "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)))).isEqualTo(valid);
        assertThat(verify(source("basic", null, "ann"), List.of("pass"), "", Instant.EPOCH, "Authorization",
                "Bearer pass")).isFalse();
    }
}
