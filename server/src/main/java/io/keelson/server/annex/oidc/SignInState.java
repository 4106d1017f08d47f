package io.keelson.server.annex.oidc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A sign-in that has begun: a random value in a cookie of the browser, with the workspace and the page to which it leads. State, nonce
 * and verifier are derived from the value, so a server that another one began it with can complete it.
 *
 * @param workspace name of the wanted workspace; empty for any
 * @param page path of the page to show afterwards
 */
record SignInState(String secret, String workspace, String page) {

    static final String HOME = "/ui/";

    private static final int RANDOM_BYTES = 32;
    private static final int MAX_COOKIE = 2_000;
    private static final Pattern SECRET = Pattern.compile("[A-Za-z0-9_-]{43}");
    /** Pages of this server: no other host, no script. */
    private static final Pattern PAGE = Pattern.compile("/(?:ui|answer)/[A-Za-z0-9/_.~?&=%:@+-]{0,800}");
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    static SignInState begin(@Nullable String workspace, @Nullable String page) {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return new SignInState(ENCODER.encodeToString(bytes), workspace == null ? "" : workspace,
                page == null || !PAGE.matcher(page).matches() || page.contains("//") ? HOME : page);
    }

    /** Reads a cookie; empty if it has not the form of {@link #cookie}. */
    static Optional<SignInState> ofCookie(@Nullable String cookie) {
        if (cookie == null || cookie.length() > MAX_COOKIE) {
            return Optional.empty();
        }
        String[] parts = cookie.split("\\.", -1);
        if (parts.length != 3 || !SECRET.matcher(parts[0]).matches()) {
            return Optional.empty();
        }
        try {
            String page = decoded(parts[2]);
            return Optional
                    .of(new SignInState(parts[0], decoded(parts[1]), PAGE.matcher(page).matches() ? page : HOME));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    String cookie() {
        return secret + "." + encoded(workspace) + "." + encoded(page);
    }

    String state() {
        return derived("state");
    }

    String nonce() {
        return derived("nonce");
    }

    /** The verifier of PKCE. */
    String verifier() {
        return derived("verifier");
    }

    /** Its challenge. */
    String challenge() {
        return hash(verifier());
    }

    boolean isState(@Nullable String given) {
        return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8),
                state().getBytes(StandardCharsets.UTF_8));
    }

    private String derived(String purpose) {
        return hash(purpose + " " + secret);
    }

    private static String hash(String text) {
        try {
            return ENCODER.encodeToString(
                    MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String encoded(String text) {
        return ENCODER.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String decoded(String text) {
        return new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "SignInState[" + workspace + ", " + page + "]";
    }
}
