package io.keelson.server.outlet.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What deliveries are signed with, held to the example that Standard Webhooks publish. */
class SigningSecretTest {

    @Test
    void signsAsThePublishedExample() {
        SigningSecret secret = new SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

        assertThat(secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, "{\"test\": 2432232314}"))
                .isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @Test
    void freshOnesAreTheirOwn() {
        SigningSecret one = SigningSecret.fresh();

        assertThat(one.text()).startsWith("whsec_").hasSize(50).isNotEqualTo(SigningSecret.fresh().text());
        assertThat(one.toString()).doesNotContain(one.text());
    }
}
