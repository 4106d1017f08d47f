package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KeelsonVersionTest {

    @Test
    void theBuildFillsInItsNumberAndItsCommit() {
        KeelsonVersion version = KeelsonVersion.current();
        assertThat(version.number()).matches("\\d+\\.\\d+\\.\\d+(-SNAPSHOT)?");
        assertThat(version.commit()).satisfiesAnyOf(
                commit -> assertThat(commit).isNull(), commit -> assertThat(commit).matches("[0-9a-f]{7,40}"));
    }

    @Test
    void aBuildOutsideACheckoutHasNoCommit() {
        assertThat(new KeelsonVersion("0.1.0", null)).hasToString("0.1.0");
        assertThat(new KeelsonVersion("0.1.0", "1a2b3c4")).hasToString("0.1.0 (1a2b3c4)");
    }
}
