package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class JournalTest {

    private final Journal journal = new Journal();

    @Test
    void whatIsPutBackComesBeforeWhatHasComeSince() {
        journal.log("a");
        journal.details(Json.of(1));
        journal.progress(Json.of("p1"));
        News lost = journal.take();
        journal.log("b");
        journal.details(Json.of(2));

        journal.putBack(lost);

        assertThat(journal.take()).isEqualTo(new News(Json.of("p1"), Json.of(2), List.of("a", "b")));
        assertThat(journal.isEmpty()).isTrue();
    }

    @Test
    void keepsTheLatestThousandLines() {
        for (int i = 0; i < 1_500; i++) {
            journal.log("line " + i);
        }
        News lost = journal.take();
        journal.log("last");

        journal.putBack(lost);

        assertThat(lost.logs()).hasSize(1_000).startsWith("line 500");
        assertThat(journal.take().logs()).hasSize(1_000).startsWith("line 501").endsWith("last");
    }
}
