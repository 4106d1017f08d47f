package io.keelson.server.annex.s3;

import java.net.URI;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Settings of an object store. Their text has no secret. */
public record S3Settings(Location location, Access access) {

    /**
     * The way to the store.
     *
     * @param endpoint null for Amazon's
     * @param region null for the region of the environment
     * @param pathStyle whether requests name the bucket in the path instead of the host
     * @param keys null for the credentials of the environment
     * @param encryption null for the default of the bucket
     */
    public record Access(@Nullable URI endpoint, @Nullable String region, boolean pathStyle, @Nullable Keys keys,
            @Nullable Encryption encryption) {}

    /**
     * The place of the artifacts.
     *
     * @param prefix of all keys; empty, or ending with a slash
     */
    public record Location(String bucket, String prefix) {

        private static final String SEGMENT = "[A-Za-z0-9_][A-Za-z0-9._-]{0,99}";
        private static final Pattern ADDRESS = Pattern.compile(
                "s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/((?:" + SEGMENT + "(?:/" + SEGMENT + "){0,9}/?)?))?");

        /** Reads {@code s3://bucket} or {@code s3://bucket/prefix}; empty for another text. */
        public static Optional<Location> parse(String text) {
            Matcher address = ADDRESS.matcher(text);
            if (!address.matches()) {
                return Optional.empty();
            }
            String prefix = address.group(2) == null ? "" : address.group(2);
            return Optional.of(new Location(address.group(1),
                    prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/"));
        }

        @Override
        public String toString() {
            return "s3://" + bucket + "/" + prefix;
        }
    }

    /** An access key. */
    public record Keys(String id, String secret) {
        @Override
        public String toString() {
            return id;
        }
    }

    /**
     * Encryption by the store.
     *
     * @param algorithm {@code AES256} or {@code aws:kms}
     * @param key of the key service; null for its default
     */
    public record Encryption(String algorithm, @Nullable String key) {

        private static final Pattern TEXT = Pattern.compile("(AES256|aws:kms)(?:=([A-Za-z0-9:/_-]{1,200}))?");

        /** Reads {@code AES256}, {@code aws:kms} or {@code aws:kms=KEY}; empty for another text. */
        public static Optional<Encryption> parse(String text) {
            Matcher encryption = TEXT.matcher(text);
            return encryption.matches() && (encryption.group(2) == null || encryption.group(1).equals("aws:kms"))
                    ? Optional.of(new Encryption(encryption.group(1), encryption.group(2)))
                    : Optional.empty();
        }
    }
}
