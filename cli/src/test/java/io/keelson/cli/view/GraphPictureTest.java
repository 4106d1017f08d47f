package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

class GraphPictureTest {

    private static final String GRAPH = """
            {"width": 472, "height": 112, "box_width": 200, "box_height": 48,
             "boxes": {"id": ["a", "group:b"], "title": ["<script>&amp;\\u0000\\"", "Pages"], "kind": ["task", "group"],
               "expandable": [false, true], "tasks": [1, 12], "states": [{"completed": 1}, {"completed": 4, "failed": 8}],
               "x": [0, 272], "y": [0, 64]},
             "edges": {"from": [0], "to": [1], "bends": [[]]}}""";

    @Test
    void namesAreTextAndAGroupHasTheColourOfItsWorstTask() throws Exception {
        Document picture =
                parsed(String.join("\n", GraphPicture.lines(Json.read(GRAPH.getBytes(StandardCharsets.UTF_8)))));

        assertThat(texts(picture.getElementsByTagName("text"))).containsExactly("<script>&amp; \"", "completed",
                "Pages",
                "4 completed, 8 failed");
        assertThat(picture.getElementsByTagName("script").getLength()).isZero();
        assertThat(picture.getElementsByTagName("path").item(0).getAttributes().getNamedItem("d").getNodeValue())
                .isEqualTo("M200 24 C236 24 236 88 272 88");
        assertThat(IntStream.of(1, 3).mapToObj(i -> picture.getElementsByTagName("rect").item(i).getAttributes()
                .getNamedItem("class").getNodeValue())).containsExactly("side done", "side failed");
    }

    @Test
    void aRunWithoutTasksIsAnEmptyPicture() throws Exception {
        Document picture = parsed(String.join("\n", GraphPicture.lines(Json.read("""
                {"width": 0, "height": 0, "box_width": 200, "box_height": 48,
                 "boxes": {"id": [], "title": [], "kind": [], "states": [], "x": [], "y": []},
                 "edges": {"from": [], "to": [], "bends": []}}""".getBytes(StandardCharsets.UTF_8)))));

        assertThat(picture.getDocumentElement().getAttribute("viewBox")).isEqualTo("-16 -16 32 32");
    }

    private static Document parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<String> texts(NodeList nodes) {
        return IntStream.range(0, nodes.getLength()).mapToObj(i -> nodes.item(i).getTextContent()).toList();
    }
}
