package io.keelson.server.api.picture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Places of the boxes of a graph, left to right: a box is right of all that it depends on, as near as it can. Within a layer,
 * boxes have the order with the fewest crossings of several sweeps, and are at the height of their neighbours.
 *
 * @param x left side of each box, in pixels
 * @param y upper side of each box
 * @param bends for each edge the points between its ends, x and y in turn: where it passes a layer between other boxes
 */
public record Layout(int width, int height, int[] x, int[] y, int[][] bends) {

    public static final int BOX_WIDTH = 232;
    public static final int BOX_HEIGHT = 48;
    private static final int GAP_X = 72;
    private static final int GAP_Y = 16;
    /** The height of an edge that passes a layer. */
    private static final int LINE = 12;
    /** Boxes of a column; a layer of more has several. */
    private static final int COLUMN = 60;
    private static final int MAX_BOXES_WITH_LINES = 500;
    private static final int MAX_LINES = 4_000;
    private static final int SWEEPS = 8;
    private static final int ALIGNMENTS = 6;

    static Layout of(Graph graph) {
        return new Work(graph).layout();
    }

    /** Nodes are the boxes and behind them the places where edges pass a layer. */
    private static final class Work {
        private final Graph graph;
        private final int boxes;
        private final int[] layer;
        private final List<int[]> passing = new ArrayList<>();
        private int[][] ups = {};
        private int[][] downs = {};
        private List<int[]> columns = new ArrayList<>();

        private Work(Graph graph) {
            this.graph = graph;
            this.boxes = graph.boxes();
            int[] layers = graph.layers();
            int lines = Arrays.stream(graph.edges()).mapToInt(edge -> layers[edge[1]] - layers[edge[0]] - 1).sum();
            boolean split = boxes <= MAX_BOXES_WITH_LINES && lines <= MAX_LINES;
            this.layer = Arrays.copyOf(layers, boxes + (split ? lines : 0));
            connect(split);
        }

        private void connect(boolean split) {
            List<int[]> links = new ArrayList<>();
            int next = boxes;
            for (int[] edge : graph.edges()) {
                int between = split ? layer[edge[1]] - layer[edge[0]] - 1 : 0;
                int[] nodes = new int[between];
                int from = edge[0];
                for (int i = 0; i < between; i++) {
                    layer[next] = layer[edge[0]] + 1 + i;
                    nodes[i] = next;
                    links.add(new int[] {from, next});
                    from = next++;
                }
                links.add(new int[] {from, edge[1]});
                passing.add(nodes);
            }
            Graph linked = new Graph(layer.length, links.toArray(int[][]::new));
            ups = linked.upstreams();
            downs = linked.downstreams();
        }

        private Layout layout() {
            if (boxes == 0) {
                return new Layout(0, 0, new int[0], new int[0], new int[0][]);
            }
            order(layers());
            double[] middle = heights();
            int[] x = new int[layer.length];
            int[] y = new int[layer.length];
            double top = Double.MAX_VALUE;
            for (int i = 0; i < layer.length; i++) {
                top = Math.min(top, middle[i] - height(i) / 2.0);
            }
            int bottom = 0;
            for (int c = 0; c < columns.size(); c++) {
                for (int node : columns.get(c)) {
                    x[node] = c * (BOX_WIDTH + GAP_X);
                    y[node] = (int) Math.round(middle[node] - height(node) / 2.0 - top);
                    bottom = Math.max(bottom, y[node] + height(node));
                }
            }
            int[][] bends = passing.stream().map(nodes -> bends(nodes, x, y)).toArray(int[][]::new);
            return new Layout(columns.size() * (BOX_WIDTH + GAP_X) - GAP_X, bottom, Arrays.copyOf(x, boxes),
                    Arrays.copyOf(y, boxes), bends);
        }

        private static int[] bends(int[] nodes, int[] x, int[] y) {
            int[] points = new int[nodes.length * 4];
            for (int i = 0; i < nodes.length; i++) {
                points[i * 4] = x[nodes[i]];
                points[i * 4 + 1] = y[nodes[i]] + LINE / 2;
                points[i * 4 + 2] = x[nodes[i]] + BOX_WIDTH;
                points[i * 4 + 3] = points[i * 4 + 1];
            }
            return points;
        }

        private int height(int node) {
            return node < boxes ? BOX_HEIGHT : LINE;
        }

        private List<int[]> layers() {
            int deepest = Arrays.stream(layer).max().orElse(0);
            List<List<Integer>> lists = new ArrayList<>();
            for (int i = 0; i <= deepest; i++) {
                lists.add(new ArrayList<>());
            }
            for (int i = 0; i < layer.length; i++) {
                lists.get(layer[i]).add(i);
            }
            return new ArrayList<>(
                    lists.stream().map(list -> list.stream().mapToInt(Integer::intValue).toArray()).toList());
        }

        /** Sweeps to and fro by the means of the neighbours' places, and keeps the order with the fewest crossings. */
        private void order(List<int[]> layers) {
            double[] at = new double[layer.length];
            layers.forEach(list -> number(list, at));
            List<int[]> best = copy(layers);
            long fewest = crossings(layers, at);
            for (int sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
                int[][] near = sweep % 2 == 0 ? ups : downs;
                for (int i = 0; i < layers.size(); i++) {
                    int[] list = layers.get(sweep % 2 == 0 ? i : layers.size() - 1 - i);
                    sort(list, near, at);
                    number(list, at);
                }
                long now = crossings(layers, at);
                if (now < fewest) {
                    fewest = now;
                    best = copy(layers);
                }
            }
            columns = new ArrayList<>();
            for (int[] list : best) {
                long wide = Arrays.stream(list).filter(node -> node < boxes).count();
                int parts = (int) Math.max(1, (wide + COLUMN - 1) / COLUMN);
                for (int i = 0; i < parts; i++) {
                    columns.add(Arrays.copyOfRange(list, list.length * i / parts, list.length * (i + 1) / parts));
                }
            }
        }

        private static List<int[]> copy(List<int[]> layers) {
            return new ArrayList<>(layers.stream().map(int[]::clone).toList());
        }

        private static void number(int[] list, double[] at) {
            for (int i = 0; i < list.length; i++) {
                at[list[i]] = i - (list.length - 1) / 2.0;
            }
        }

        private static void sort(int[] list, int[][] near, double[] at) {
            double[] mean = new double[list.length];
            Integer[] places = new Integer[list.length];
            for (int i = 0; i < list.length; i++) {
                int[] ends = near[list[i]];
                double sum = 0;
                for (int end : ends) {
                    sum += at[end];
                }
                mean[i] = ends.length == 0 ? at[list[i]] : sum / ends.length;
                places[i] = i;
            }
            Arrays.sort(places, Comparator.comparingDouble(place -> mean[place]));
            int[] before = list.clone();
            for (int i = 0; i < list.length; i++) {
                list[i] = before[places[i]];
            }
        }

        private long crossings(List<int[]> layers, double[] at) {
            long all = 0;
            for (int i = 1; i < layers.size(); i++) {
                int[] list = layers.get(i);
                int below = layers.get(i - 1).length;
                int[] tree = new int[below + 1];
                long seen = 0;
                for (int node : list) {
                    int[] places = Arrays.stream(ups[node]).filter(up -> layer[up] == layer[node] - 1)
                            .map(up -> (int) Math.round(at[up] + (below - 1) / 2.0)).sorted().toArray();
                    for (int place : places) {
                        all += seen - sum(tree, place + 1);
                    }
                    for (int place : places) {
                        for (int p = place + 1; p <= below; p += p & -p) {
                            tree[p]++;
                        }
                        seen++;
                    }
                }
            }
            return all;
        }

        private static long sum(int[] tree, int until) {
            long sum = 0;
            for (int p = until; p > 0; p -= p & -p) {
                sum += tree[p];
            }
            return sum;
        }

        /** The middle of each node: at the mean height of its neighbours, as far as the order and the gaps allow. */
        private double[] heights() {
            double[] middle = new double[layer.length];
            for (int[] column : columns) {
                double at = 0;
                for (int node : column) {
                    middle[node] = at + height(node) / 2.0;
                    at += height(node) + GAP_Y;
                }
                for (int node : column) {
                    middle[node] -= (at - GAP_Y) / 2;
                }
            }
            for (int turn = 0; turn < ALIGNMENTS; turn++) {
                int[][] near = turn % 2 == 0 ? ups : downs;
                for (int i = 0; i < columns.size(); i++) {
                    align(columns.get(turn % 2 == 0 ? i : columns.size() - 1 - i), near, middle);
                }
            }
            return middle;
        }

        /**
         * Moves a column's nodes to the means of their neighbours with the least sum of squared distances: nodes that would overlap
         * move together (pool of adjacent violators).
         */
        private void align(int[] column, int[][] near, double[] middle) {
            double[] offset = new double[column.length];
            double[] pool = new double[column.length];
            int[] size = new int[column.length];
            int pools = 0;
            for (int i = 0; i < column.length; i++) {
                int node = column[i];
                offset[i] = i == 0 ? 0
                        : offset[i - 1] + GAP_Y + (height(column[i - 1]) + height(node)) / 2.0;
                double wanted =
                        Arrays.stream(near[node]).mapToDouble(end -> middle[end]).average().orElse(middle[node]);
                pool[pools] = wanted - offset[i];
                size[pools++] = 1;
                while (pools > 1 && pool[pools - 2] > pool[pools - 1]) {
                    int both = size[pools - 2] + size[pools - 1];
                    pool[pools - 2] = (pool[pools - 2] * size[pools - 2] + pool[pools - 1] * size[pools - 1]) / both;
                    size[pools - 2] = both;
                    pools--;
                }
            }
            int i = 0;
            for (int p = 0; p < pools; p++) {
                for (int k = 0; k < size[p]; k++, i++) {
                    middle[column[i]] = pool[p] + offset[i];
                }
            }
        }
    }
}
