package io.keelson.server.outlet.notice;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The largest notices in the forms of the services, which refuse larger bodies. */
class NoticeFormsTest {

    private static Notice largest(String character) {
        String text = character.repeat(20_000);
        return new Notice(text, text, Collections.nCopies(20, new Notice.Fact("If accepted", text)),
                List.of(new Notice.Link("Answer", "https://keelson.example/answer/" + "x".repeat(700)),
                        new Notice.Link("Open the run", "https://keelson.example/ui/runs/1")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "&", "<", "\n", "😀", "\"", "x\n"})
    void messagesFitTheirServices(String character) {
        for (int count : List.of(1, Notice.MAX_OF_MESSAGE, 3 * Notice.MAX_OF_MESSAGE)) {
            List<Notice> notices = Collections.nCopies(count, largest(character));
            assertThat(TeamsMessage.of(notices).getBytes(StandardCharsets.UTF_8).length).isLessThan(28 * 1024);
            JsonNode slack = Json.read(SlackMessage.of(notices));
            assertThat(slack.get("blocks").size()).isBetween(1, 50);
            slack.get("blocks").forEach(block -> {
                assertThat(block.path("fields").size()).isLessThanOrEqualTo(10);
                block.path("fields")
                        .forEach(field -> assertThat(field.get("text").stringValue()).hasSizeBetween(1, 2000));
                if (block.has("text")) {
                    assertThat(block.at("/text/text").stringValue())
                            .hasSizeBetween(1, block.get("type").stringValue().equals("header") ? 150 : 3000);
                }
            });
            assertThat(slack.toString()).doesNotContainPattern("&(?!amp;|lt;|gt;)");
            assertThat(MailMessage.of(notices).subject()).doesNotContain("\n").hasSizeLessThan(300);
        }
    }
}
