package io.keelson.server.api.picture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A graph without cycles: boxes from 0 and edges between them, each pair once.
 *
 * @param boxes number of boxes
 * @param edges pairs of a box and the box that depends on it
 */
record Graph(int boxes, int[][] edges) {

    /** For each box the other ends of its edges, in the order of the edges. */
    int[][] upstreams() {
        return ends(1, 0);
    }

    int[][] downstreams() {
        return ends(0, 1);
    }

    private int[][] ends(int of, int other) {
        int[] size = new int[boxes];
        for (int[] edge : edges) {
            size[edge[of]]++;
        }
        int[][] ends = new int[boxes][];
        for (int i = 0; i < boxes; i++) {
            ends[i] = new int[size[i]];
        }
        Arrays.fill(size, 0);
        for (int[] edge : edges) {
            ends[edge[of]][size[edge[of]]++] = edge[other];
        }
        return ends;
    }

    /** The length of the longest way to each box. Boxes of a cycle, which a plan never has, stay at 0. */
    int[] layers() {
        int[][] downs = downstreams();
        int[] open = new int[boxes];
        for (int[] edge : edges) {
            open[edge[1]]++;
        }
        int[] layers = new int[boxes];
        int[] ready = new int[boxes];
        int end = 0;
        for (int i = 0; i < boxes; i++) {
            if (open[i] == 0) {
                ready[end++] = i;
            }
        }
        for (int next = 0; next < end; next++) {
            for (int down : downs[ready[next]]) {
                layers[down] = Math.max(layers[down], layers[ready[next]] + 1);
                if (--open[down] == 0) {
                    ready[end++] = down;
                }
            }
        }
        return layers;
    }

    /** The graph of groups of boxes: an edge where boxes of two groups have one. */
    Graph grouped(int[] groupOf, int groups) {
        long[] pairs = Arrays.stream(edges).filter(edge -> groupOf[edge[0]] != groupOf[edge[1]])
                .mapToLong(edge -> (long) groupOf[edge[0]] * groups + groupOf[edge[1]]).sorted().distinct().toArray();
        List<int[]> between = new ArrayList<>(pairs.length);
        for (long pair : pairs) {
            between.add(new int[] {(int) (pair / groups), (int) (pair % groups)});
        }
        return new Graph(groups, between.toArray(int[][]::new));
    }
}
