package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ExtrasTest {

    private static final int MIB = 1 << 20;

    @Test
    void anArtifactAndAllTogetherAreBounded() {
        Extras extras = new Extras();
        for (int i = 0; i < 8; i++) {
            extras.artifact("a" + i, "text/plain", new byte[MIB]);
        }

        assertThatThrownBy(() -> extras.artifact("big", "text/plain", new byte[MIB + 1]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("big");
        assertThatThrownBy(() -> extras.artifact("ninth", "text/plain", new byte[1]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("ninth");
        assertThat(extras.take().path("artifacts").size()).isEqualTo(8);
    }
}
