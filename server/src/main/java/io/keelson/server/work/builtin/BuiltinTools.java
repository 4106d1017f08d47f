package io.keelson.server.work.builtin;

import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolPolicy;
import java.time.Clock;
import java.util.List;
import java.util.Map;

/** All built-in tools, made for one server. */
public final class BuiltinTools {

    /** Gives programs access to the gateway for models. */
    @FunctionalInterface
    public interface ProgramVariables {
        /** Variables with the gateway's address and a token of the call's lease. The token is the value of {@link #TOKEN}. */
        Map<String, String> of(ToolCall call);

        String TOKEN = "KEELSON_STEP_TOKEN";
    }

    private BuiltinTools() {}

    /** For a process with one user: files are searched by the thread that asks. */
    public static List<Tool> all(ToolPolicy policy, Expressions expressions, OutboundClient outbound, Clock clock) {
        return all(policy, expressions, Computation.direct(), outbound, clock, call -> Map.of());
    }

    /**
     * @param files where files are looked through
     * @param clock for pauses until a date
     * @param programs variables of started programs that use models
     */
    public static List<Tool> all(ToolPolicy policy, Expressions expressions, Computation files, OutboundClient outbound,
            Clock clock, ProgramVariables programs) {
        return List.of(new AgentAsk(), new AgentDelegate(), new ArtifactWrite(), new Echo(), new Fail(),
                new Computed(new FilesList(policy), files), new Computed(new FilesRead(policy), files),
                new Computed(new FilesSearch(policy), files), new HttpRequest(outbound, clock),
                new Computed(new JsonTransform(expressions), expressions.computation()), new Noop(), new PlanFallback(),
                new PlanPropose(), new ProcessRun(policy, programs), new ProposalCreate(), new RunStart(),
                new WaitForSignal(), new Computed(new TextTemplate(), expressions.computation()),
                new Computed(new VerifyJq(expressions), expressions.computation()), new VerifyKeywords(),
                new VerifyLength(), new Computed(new VerifyRegex(), expressions.computation()),
                new Computed(new VerifySchema(), expressions.computation()),
                new Computed(new VerifySections(), expressions.computation()),
                new Computed(new VerifyUrls(), expressions.computation()), new Wait());
    }
}
