package io.keelson.server.base.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerifiedContentTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 65_535, 65_536, 65_537, 131_072, 300_000})
    void rightContentIsReturnedWhole(int length) throws IOException {
        byte[] content = random(length);
        try (InputStream verified = VerifiedContent.of(new ByteArrayInputStream(content), sha256(content))) {
            assertThat(verified.readAllBytes()).isEqualTo(content);
            assertThat(verified.read()).isEqualTo(-1);
        }
    }

    @Test
    void shortDamagedContentIsRefusedAtOnce() {
        assertThatThrownBy(() -> VerifiedContent.of(new ByteArrayInputStream(random(65_536)), sha256(random(1))))
                .isInstanceOf(ContentDamagedException.class);
    }

    @Test
    void longDamagedContentEndsBeforeItsLastBytes() throws IOException {
        byte[] content = random(300_000);
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        try (InputStream verified = VerifiedContent.of(new ByteArrayInputStream(content), sha256(random(1)))) {
            assertThatThrownBy(() -> verified.transferTo(read)).isInstanceOf(ContentDamagedException.class);
        }
        assertThat(read.size()).isLessThan(content.length);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(ArtifactRules.sha256().digest(bytes));
    }
}
