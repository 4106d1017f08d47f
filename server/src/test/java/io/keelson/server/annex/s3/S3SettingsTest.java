package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class S3SettingsTest {

    @ParameterizedTest
    @CsvSource({"s3://bucket, s3://bucket/", "s3://bucket/, s3://bucket/", "s3://b-1.x/a/b_c, s3://b-1.x/a/b_c/",
            "s3://bucket/a/, s3://bucket/a/"})
    void locationsAreBucketAndPrefix(String text, String expected) {
        assertThat(S3Settings.Location.parse(text).map(S3Settings.Location::toString)).contains(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "bucket", "s3://", "s3://B", "s3://bucket//a", "s3://bucket/../a", "s3://bucket/a?b",
            "s3://bucket/.hidden", "https://bucket"})
    void otherTextsAreNotLocations(String text) {
        assertThat(S3Settings.Location.parse(text)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"AES256, AES256,", "aws:kms, aws:kms,",
            "aws:kms=arn:aws:kms:eu:1:key/a-b, aws:kms, arn:aws:kms:eu:1:key/a-b"})
    void encryptionIsAnAlgorithmAndAKey(String text, String algorithm, String key) {
        assertThat(S3Settings.Encryption.parse(text)).contains(new S3Settings.Encryption(algorithm, key));
        assertThat(S3Settings.Encryption.parse("AES256=key")).isEmpty();
        assertThat(S3Settings.Encryption.parse("DES")).isEmpty();
    }

    @Test
    void settingsShowNoSecret() {
        assertThat(new S3Settings.Access(null, null, false, new S3Settings.Keys("id", "secret"), null).toString())
                .contains("id").doesNotContain("secret");
    }
}
