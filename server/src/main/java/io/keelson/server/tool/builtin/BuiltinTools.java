package io.keelson.server.tool.builtin;

import io.keelson.server.expr.Expressions;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.tool.Tool;
import io.keelson.server.tool.ToolPolicy;
import java.time.Clock;
import java.util.List;

/** All built-in tools, made for one server. */
public final class BuiltinTools {

    private BuiltinTools() {}

    /** @param clock for the time a call's deadline leaves */
    public static List<Tool> all(ToolPolicy policy, Expressions expressions, OutboundClient outbound, Clock clock) {
        return List.of(
                new ArtifactWrite(),
                new Echo(),
                new Fail(),
                new FilesList(policy),
                new FilesRead(policy),
                new FilesSearch(policy),
                new HttpRequest(outbound, clock),
                new Computed(new JsonTransform(expressions), expressions.computation()),
                new Noop(),
                new PlanFallback(),
                new ProcessRun(policy, clock),
                new ProposalCreate(),
                new RunStart(),
                new SignalWait(),
                new Computed(new TextTemplate(), expressions.computation()),
                new Computed(new VerifyJq(expressions), expressions.computation()),
                new Computed(new VerifyRegex(), expressions.computation()),
                new Computed(new VerifySchema(), expressions.computation()),
                new Computed(new VerifySections(), expressions.computation()),
                new Wait());
    }
}
