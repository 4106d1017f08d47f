package io.keelson.cli.authoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import io.keelson.client.ToolInfo;
import org.junit.jupiter.api.Test;

class ToolsCommandTest {

    @Test
    void undescribedWorkerToolHasNoDescription() {
        assertThat(ToolsCommand.description(new ToolInfo("shop.order", null, Json.object(), Json.object()))).isEmpty();
        assertThat(ToolsCommand.description(new ToolInfo("echo", "Says it again.", Json.object(), Json.object())))
                .isEqualTo("Says it again.");
    }
}
