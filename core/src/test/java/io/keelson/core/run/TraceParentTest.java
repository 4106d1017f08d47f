package io.keelson.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentTest {

    private static final String PLACE = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

    @Test
    void aHeaderIsReadAndWritten() {
        TraceParent read = TraceParent.parse("00-" + PLACE + "-01");

        assertThat(read).isEqualTo(new TraceParent(PLACE.substring(0, 32), PLACE.substring(33), true));
        assertThat(read.text()).isEqualTo("00-" + PLACE + "-01");
        assertThat(TraceParent.parse("00-" + PLACE + "-fe").text()).isEqualTo("00-" + PLACE + "-00");
    }

    @Test
    void unknownMembersOfALaterVersionAreIgnored() {
        assertThat(TraceParent.parse("cc-" + PLACE + "-01-what-comes-then").text()).isEqualTo("00-" + PLACE + "-01");
        assertThat(TraceParent.parse("cc-" + PLACE + "-01").text()).isEqualTo("00-" + PLACE + "-01");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "ff-" + PLACE + "-01", "00-" + PLACE + "-01-more", "00-" + PLACE + "-01 ",
            "00-" + PLACE, "cc-" + PLACE + "-01more", "0-" + PLACE + "-01", "00-" + PLACE + "-0g",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"})
    void malformedHeaderIsIgnored(String header) {
        assertThat(TraceParent.parse(header)).isNull();
    }

    @Test
    void nothingIsNone() {
        assertThat(TraceParent.parse(null)).isNull();
    }
}
