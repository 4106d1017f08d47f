package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules of the dashboard's sources, which the content security policy would enforce only in the browser. */
class WebTidyTest {

    private static final int MAX_FILE_BYTES = 30_000;
    private static final int MAX_GZIP_BYTES = 178_000;

    /** All but the font and its licence. */
    private static Map<String, byte[]> written() {
        Map<String, byte[]> sources = new HashMap<>(WebSources.read(null));
        sources.keySet().removeIf(name -> name.startsWith("font/"));
        return sources;
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
            "innerHTML|outerHTML|insertAdjacentHTML|unsafeHTML|unsafeSVG|unsafeStatic|document\\.write; a template",
            "\\sstyle=|styleMap; a class, or the directive place",
            "\\beval\\(|new Function\\(|setTimeout\\(['\"`]; a function",
            "https?://(?!www\\.w3\\.org/2000/svg); nothing: the page asks no other host",
            "toLocaleTimeString|toLocaleDateString|toLocaleString\\(\\); time of draw/format.js, which knows the zone"})
    void nothingBannedIsWritten(String banned, String instead) {
        Pattern pattern = Pattern.compile(banned);
        List<String> found = new ArrayList<>();
        written().forEach((name, bytes) -> {
            Matcher matcher = pattern.matcher(new String(bytes, StandardCharsets.UTF_8));
            while (matcher.find()) {
                found.add(name + ": " + matcher.group());
            }
        });
        assertThat(found).as("instead: " + instead).isEmpty();
    }

    @Test
    void filesAreShortAndSmallTogether() {
        Map<String, byte[]> sources = written();
        sources.forEach((name, bytes) -> assertThat(bytes.length).as(name).isLessThan(MAX_FILE_BYTES));
        int size = sources.entrySet().stream()
                .map(each -> WebFile.of(WebSources.withoutComments(each.getKey(), each.getValue()), Map.of()))
                .mapToInt(each -> each.gzip().length).sum();
        assertThat(size).isLessThan(MAX_GZIP_BYTES);
    }

    @Test
    void commentsAreNotServedAndLinesKeepTheirNumbers() {
        String source = """
                // one
                import { html } from 'lit';
                /**
                 * two * three
                 */
                const a = 'https://x'; // stays
                  /* four */
                /** @type {any} */ (a).b = html`<p>/* text */</p>`;
                """;
        assertThat(new String(WebSources.withoutComments("a.js", source.getBytes(StandardCharsets.UTF_8)),
                StandardCharsets.UTF_8)).isEqualTo("""

                import { html } from 'lit';



                const a = 'https://x'; // stays

                /** @type {any} */ (a).b = html`<p>/* text */</p>`;
                """);
    }
}
