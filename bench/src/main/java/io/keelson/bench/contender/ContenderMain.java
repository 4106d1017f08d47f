package io.keelson.bench.contender;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** A contender's process: reads orders, answers each, and ends with its input, so that it never outlives the harness. */
public final class ContenderMain {
    private static final Logger LOG = LoggerFactory.getLogger(ContenderMain.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final ContenderKind kind;
    private @Nullable Contender contender;

    private ContenderMain(ContenderKind kind) {
        this.kind = kind;
    }

    /** @param args the name of a {@link ContenderKind} */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        // Output of libraries must not mix with the answers.
        System.setOut(System.err);
        int status = new ContenderMain(ContenderKind.valueOf(args[0])).serve(answers);
        Runtime.getRuntime().halt(status);
    }

    private int serve(PrintStream answers) throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            Order order = JSON.readValue(line, Order.class);
            Answer answer = answer(order);
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
            if (order.verb() == Order.Verb.STOP) {
                return 0;
            }
        }
        answer(Order.stop());
        return 1;
    }

    @SuppressWarnings("IllegalCatch") // the harness reports every failure
    private Answer answer(Order order) {
        try {
            return new Answer(perform(order), null);
        } catch (Throwable e) {
            LOG.error("{} failed", order.verb(), e);
            return new Answer(null, e.toString());
        }
    }

    private @Nullable WorkloadResult perform(Order order) throws Exception {
        return switch (order.verb()) {
            case START -> {
                contender = kind.start(Objects.requireNonNull(order.place()));
                yield null;
            }
            case LOAD -> started().load(Objects.requireNonNull(order.load()));
            case PRELOAD -> {
                started().preload(order.count());
                yield null;
            }
            case DRAIN -> started().drain(order.seconds());
            case CLAIM -> started().claim(order.count(), order.each());
            case KEEP -> {
                started().keep(order.count());
                yield null;
            }
            case STOP -> {
                if (contender != null) {
                    contender.close();
                }
                yield null;
            }
        };
    }

    private Contender started() {
        return Objects.requireNonNull(contender, "start comes first");
    }
}
