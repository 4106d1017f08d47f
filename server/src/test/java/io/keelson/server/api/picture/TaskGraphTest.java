package io.keelson.server.api.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.picture.TaskGraph.Box;
import io.keelson.server.api.picture.TaskGraph.Picture;
import io.keelson.server.api.picture.TaskGraph.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Boxes never overlap, edges point one way, and the same plan gives the same picture, at any size. */
class TaskGraphTest {

    private static List<Task> tasks(int count) {
        return IntStream.range(0, count).mapToObj(i -> new Task("t" + i, "Task " + i, -1)).toList();
    }

    private static int[][] random(int tasks, int edges, long seed) {
        Random random = new Random(seed);
        return IntStream.range(0, edges).mapToObj(_ -> {
            int to = 1 + random.nextInt(tasks - 1);
            return new int[] {random.nextInt(to), to};
        }).toArray(int[][]::new);
    }

    private static int[][] chain(int tasks) {
        return IntStream.range(1, tasks).mapToObj(i -> new int[] {i - 1, i}).toArray(int[][]::new);
    }

    private static Picture sound(List<Task> tasks, int[][] edges, Set<String> expanded) {
        Picture picture = TaskGraph.picture(tasks, edges, expanded);
        Layout layout = picture.layout();
        int boxes = picture.boxes().size();
        for (int a = 0; a < boxes; a++) {
            assertThat(layout.x()[a]).isBetween(0, layout.width() - Layout.BOX_WIDTH);
            assertThat(layout.y()[a]).isBetween(0, layout.height() - Layout.BOX_HEIGHT);
            for (int b = 0; b < a; b++) {
                boolean apart = Math.abs(layout.x()[a] - layout.x()[b]) >= Layout.BOX_WIDTH
                        || Math.abs(layout.y()[a] - layout.y()[b]) >= Layout.BOX_HEIGHT;
                assertThat(apart).as("boxes %d and %d", a, b).isTrue();
            }
        }
        for (int i = 0; i < picture.edges().length; i++) {
            int[] edge = picture.edges()[i];
            int at = layout.x()[edge[0]] + Layout.BOX_WIDTH;
            for (int p = 0; p < layout.bends()[i].length; p += 2) {
                assertThat(layout.bends()[i][p]).isGreaterThanOrEqualTo(at);
                at = layout.bends()[i][p];
            }
            assertThat(layout.x()[edge[1]]).isGreaterThan(at);
        }
        assertThat(picture.boxes().stream().mapToInt(box -> box.tasks().length).sum())
                .isEqualTo(tasks.size()
                        - (int) tasks.stream().mapToInt(Task::group).filter(group -> group >= 0).distinct().count());
        assertThat(picture.boxes().stream().map(Box::id)).doesNotHaveDuplicates();
        return picture;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void randomPlansAreSound(long seed) {
        Picture picture = sound(tasks(120), random(120, 260, seed), Set.of());
        assertThat(picture.boxes()).hasSize(120);
        Picture again = TaskGraph.picture(tasks(120), random(120, 260, seed), Set.of());
        assertThat(again.layout().y()).isEqualTo(picture.layout().y());
        assertThat(again.layout().x()).isEqualTo(picture.layout().x());
    }

    @Test
    void aDiamondIsSymmetric() {
        Picture picture = sound(tasks(4), new int[][] {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, Set.of());
        int[] y = picture.layout().y();
        assertThat(y[0]).isEqualTo(y[3]);
        assertThat(y[0]).isEqualTo((y[1] + y[2]) / 2);
    }

    @Test
    void anEdgePassesLayersBetweenBoxes() {
        Picture picture = sound(tasks(4), new int[][] {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, Set.of());
        assertThat(picture.layout().bends()[1]).as("0 to 3 in the order of edges").hasSize(8);
    }

    @Test
    void aFanOutIsOneBoxUntilItIsExpanded() {
        List<Task> tasks = new ArrayList<>(List.of(new Task("a", "", -1), new Task("each", "Each", -1)));
        IntStream.range(0, 250).forEach(i -> tasks.add(new Task("each[" + i + "]", "", 1)));
        tasks.add(new Task("end", "", -1));
        int[][] edges = {{0, 1}, {1, 252}};
        Picture folded = sound(tasks, edges, Set.of());
        assertThat(folded.boxes().stream().map(Box::id)).containsExactly("a", "group:each", "end");
        assertThat(folded.boxes().get(1).tasks()).hasSize(250);
        Picture open = sound(tasks, edges, Set.of("group:each"));
        assertThat(open.boxes()).hasSize(TaskGraph.MAX_EXPANDED + 3);
        assertThat(open.boxes().get(TaskGraph.MAX_EXPANDED + 1).kind()).isEqualTo("rest");
        assertThat(open.edges().length).isEqualTo(2 * (TaskGraph.MAX_EXPANDED + 1));
    }

    @Test
    void largePlansHaveFewBoxes() {
        assertSmall(tasks(10_000), new int[0][]);
        assertSmall(tasks(1_000), chain(1_000));
        assertSmall(tasks(10_000), random(10_000, 30_000, 7));
        int[][] fans = IntStream.range(0, 9_900).mapToObj(i -> new int[] {i % 100, 100 + i}).toArray(int[][]::new);
        assertSmall(tasks(10_000), fans);
    }

    private static void assertSmall(List<Task> tasks, int[][] edges) {
        assertThat(sound(tasks, edges, Set.of()).boxes()).hasSizeLessThanOrEqualTo(TaskGraph.MAX);
    }

    @Test
    void aLayoutPlacesAllTasks() {
        Layout layout = Layout.of(new Graph(10_000, random(10_000, 30_000, 7)));
        assertThat(layout.x()).hasSize(10_000);
    }
}
