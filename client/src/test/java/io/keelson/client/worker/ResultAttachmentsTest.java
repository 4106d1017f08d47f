package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ResultAttachmentsTest {

    private static final int MIB = 1 << 20;

    @Test
    void anArtifactAndAllTogetherAreBounded() {
        ResultAttachments resultAttachments = new ResultAttachments();
        for (int i = 0; i < 8; i++) {
            resultAttachments.artifact("a" + i, "text/plain", new byte[MIB]);
        }

        assertThatThrownBy(() -> resultAttachments.artifact("big", "text/plain", new byte[MIB + 1]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("big");
        assertThatThrownBy(() -> resultAttachments.artifact("ninth", "text/plain", new byte[1]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("ninth");
        assertThat(resultAttachments.take().artifacts()).hasSize(8);
    }
}
