package io.keelson.server.app;

import io.keelson.GeneratedDocs;
import io.keelson.core.run.Payload;
import io.keelson.core.run.Payloads;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of {@code docs/reference/events.md} is what the code says. */
class EventsDocTest {

    @Test
    void everyTypeOfEvent() {
        GeneratedDocs.check("docs/reference/events.md", "types",
                "| type | when | decided by | members |\n|---|---|---|---|\n"
                        + Payloads.all().stream().map(EventsDocTest::row).collect(Collectors.joining("\n")));
    }

    private static String row(Payload payload) {
        String members = Payloads.members(payload).entrySet().stream()
                .map(each -> "`" + each.getKey() + "`" + (each.getValue() ? "" : "?"))
                .collect(Collectors.joining(", "));
        return "| `" + payload.type().wire() + "` | " + payload.type().when() + " | " + payload.type().by().wire()
                + " | " + members + " |";
    }
}
