package io.keelson.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.work.ToolInfo;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.AgentHandler;
import io.keelson.client.worker.Continue;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import io.keelson.test.KeelsonTest;
import io.keelson.test.TestKeelson;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications with the starter, against a server. */
@KeelsonTest
class StarterTest {

    record Guest(String name, @Nullable String title) {}

    record Order(Guest guest, List<String> dishes, Optional<Integer> table) {}

    /** The tools of most tests. */
    static class Tools {
        @KeelsonTool(value = "${prefix:spring}.greet", description = "Greets a guest", effects = Effects.READ)
        String greet(String name, boolean polite, @Nullable String title, StepContext step) throws StepFailure {
            if (name.isBlank()) {
                throw new StepFailure("NAME_MISSING", ErrorClass.PERMANENT, "a name is missing");
            }
            return (polite ? "Good day " : "Hello ") + (title == null ? "" : title + " ") + name + " " + step.attempt();
        }

        @KeelsonTool("spring.serve")
        Object serve(Order order) {
            return new Continue(order.guest().name() + order.dishes().size() + order.table().orElse(0));
        }

        @KeelsonTool("spring.pay")
        Map<String, Object> pay(Map<String, Object> anything) {
            return anything;
        }

        @KeelsonTool("spring.seat")
        int seat(List<Guest> guests, Optional<String> room) {
            return guests.get(0).name().length() + room.map(String::length).orElse(0);
        }
    }

    private static ApplicationContextRunner application(TestKeelson keelson) {
        return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(KeelsonAutoConfiguration.class))
                .withPropertyValues("keelson.url=" + keelson.url(), "keelson.api-key=" + keelson.apiKey(),
                        "keelson.worker.poll=200ms", "keelson.worker.version=1.2");
    }

    private static Mission mission(String tool, Object input) {
        return Mission.named("test").task("t", task -> task.step("s", tool, input))
                .output(Mission.expr(".tasks.t.output"));
    }

    @Test
    void methodsAreTools(TestKeelson keelson) {
        application(keelson).withBean(Tools.class).withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(context -> {
                    List<ToolInfo> tools = keelson.client().tools();
                    assertThat(tools).extracting(ToolInfo::name).contains("spring.greet", "spring.serve", "spring.pay",
                            "spring.seat");
                    assertThat(tools).filteredOn(each -> each.name().equals("spring.greet")).singleElement()
                            .satisfies(greet -> {
                                assertThat(greet.description()).isEqualTo("Greets a guest");
                                assertThat(greet.effects()).isEqualTo("read");
                                assertThat(greet.inputSchema().path("required").toString())
                                        .isEqualTo("[\"name\",\"polite\"]");
                            });
                    keelson.assertEnd(keelson.start(mission("spring.greet", Map.of("name", "Ada", "polite", true))))
                            .completed().output("Good day Ada 1");
                    keelson.assertEnd(keelson.start(mission("spring.pay", Map.of("any", List.of(1))))).completed()
                            .output(Map.of("any", List.of(1)));
                    keelson.assertEnd(
                            keelson.start(mission("spring.seat", Map.of("guests", List.of(Map.of("name", "Ada"))))))
                            .completed().output(3);

                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    assertThat(meters.get("keelson.worker.steps").tags("tool", "spring.greet", "outcome", "completed")
                            .timer()
                            .count()).isEqualTo(1);
                    assertThat(meters.get("keelson.worker.slots").gauge().value()).isEqualTo(8);
                    assertThat(keelson.client().workers()).extracting(each -> each.version()).contains("1.2");
                });
    }

    @Test
    void inputThatDoesNotFitFailsForGood(TestKeelson keelson) {
        application(keelson).withBean(Tools.class).run(context -> {
            assertThat(failure(keelson, "spring.greet", Map.of("nam", "Ada", "polite", true)))
                    .isEqualTo("INPUT_INVALID the input of spring.greet does not fit: /name is missing; "
                            + "/nam is unknown; known: name, polite, title");
            assertThat(failure(keelson, "spring.greet", Map.of("name", List.of(), "polite", true))).startsWith(
                    "INPUT_INVALID the input of spring.greet does not fit: /name is not of the type java.lang.String: ");
            assertThat(failure(keelson, "spring.serve", Map.of("guest", 5, "dishes", List.of())))
                    .startsWith("INPUT_INVALID the input of spring.serve does not fit: not of the type ");
            assertThat(failure(keelson, "spring.greet", Map.of("name", " ", "polite", true)))
                    .isEqualTo("NAME_MISSING a name is missing");
        });
    }

    private static String failure(TestKeelson keelson, String tool, Object input) {
        Run ended = keelson.end(keelson.start(mission(tool, input)));
        Step step = keelson.client().runs().steps(ended.id()).get(0);
        return step.errorCode() + " " + step.errorMessage();
    }

    @Test
    void recordsHaveSchemas() {
        assertThat(InputSchema.of(Order.class)).hasToString("""
                {"type":"object","properties":{"guest":{"type":"object","properties":{"name":{"type":"string"},\
                "title":{"type":"string"}},"required":["name"],"additionalProperties":false},\
                "dishes":{"type":"array","items":{"type":"string"}},"table":{"type":"integer"}},\
                "required":["guest","dishes"],"additionalProperties":false}""");
        assertThat(InputSchema.of(Tree.class)).hasToString("""
                {"type":"object","properties":{"kind":{"type":"string","enum":["OAK","FIR"]},"height":{"type":"number"},\
                "planted":{"type":"string","format":"date"},"branches":{"type":"array","items":{}},\
                "notes":{"type":"object","additionalProperties":{"type":"boolean"}}},\
                "required":["kind","height","planted","branches","notes"],"additionalProperties":false}""");
    }

    enum Kind { OAK, FIR }

    record Tree(Kind kind, BigDecimal height, LocalDate planted, List<Tree> branches, Map<String, Boolean> notes) {}

    @Test
    void agentsAndCustomToolsAreServed(TestKeelson keelson) {
        application(keelson).withBean(AgentHandler.class, () -> turn -> Turn.done("done by " + turn.title()))
                .withBean(KeelsonWorkerCustomizer.class, () -> worker -> worker.tool("spring.custom", step -> 7))
                .run(context -> {
                    keelson.assertEnd(keelson.start(mission("spring.custom", Map.of()))).completed().output(7);
                    keelson.assertEnd(keelson.start(Mission.named("agent").task("a", task -> task.title("Ada"))
                            .output(Mission.expr(".tasks.a.output")))).completed().output("done by Ada");
                });
    }

    @Test
    void endOfTheContextWaitsForSteps(TestKeelson keelson) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        CompletableFuture<Run> run = new CompletableFuture<>();
        application(keelson)
                .withBean(KeelsonWorkerCustomizer.class, () -> worker -> worker.tool("spring.slow", step -> {
                    begun.countDown();
                    return stopping.await(20, TimeUnit.SECONDS);
                })).run(context -> {
                    run.complete(keelson.start(mission("spring.slow", Map.of())));
                    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
                    Worker worker = context.getBean(KeelsonWorker.class).worker();
                    assertThat(worker).isNotNull();
                    Thread.ofVirtual().start(() -> {
                        keelson.until("the worker does not stop", () -> keelson.client().workers().stream()
                                .anyMatch(each -> each.id().equals(worker.id())));
                        stopping.countDown();
                    });
                });

        keelson.assertEnd(run.get()).completed().output(true);
    }

    @Test
    void proxiesOfBeansAreCalled(TestKeelson keelson) {
        CountDownLatch called = new CountDownLatch(1);
        application(keelson).withBean(Tools.class, () -> {
            ProxyFactory proxy = new ProxyFactory(new Tools());
            proxy.setProxyTargetClass(true);
            proxy.addAdvice((MethodInterceptor) invocation -> {
                called.countDown();
                return invocation.proceed();
            });
            return (Tools) proxy.getProxy();
        }).run(context -> {
            keelson.assertEnd(keelson.start(mission("spring.pay", Map.of()))).completed();
            assertThat(called.getCount()).isZero();
        });
    }

    @Test
    void healthIsThatOfServerAndWorker(TestKeelson keelson) {
        application(keelson).withBean(Tools.class).run(context -> {
            Health health = health(context.getBean(KeelsonHealthIndicator.class));
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("url", keelson.url()).containsKeys("version", "workspace",
                    "worker");
        });
        application(keelson).withPropertyValues("keelson.url=http://127.0.0.1:1").withBean(Tools.class)
                .run(context -> {
                    Health health = health(context.getBean(KeelsonHealthIndicator.class));
                    assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                    assertThat(health.getDetails()).containsEntry("code", "SERVER_UNREACHABLE");
                });
    }

    private static Health health(HealthIndicator indicator) {
        return Objects.requireNonNull(indicator.health());
    }

    @Test
    void refusedKeyEndsTheStart(TestKeelson keelson) {
        application(keelson).withPropertyValues("keelson.api-key=wrong").withBean(Tools.class)
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("INVALID_API_KEY"));
    }

    @Test
    void applicationWithoutToolsOrPartsOfSpringHasAClientOnly(TestKeelson keelson) {
        application(keelson).withClassLoader(new FilteredClassLoader(HealthIndicator.class, MeterRegistry.class))
                .run(context -> {
                    assertThat(context).hasSingleBean(Keelson.class).doesNotHaveBean(HealthIndicator.class);
                    assertThat(context.getBean(KeelsonWorker.class).worker()).isNull();
                });
        application(keelson).withPropertyValues("keelson.worker.enabled=false").withBean(Tools.class)
                .run(context -> assertThat(context).doesNotHaveBean(KeelsonWorker.class));
    }

    @Test
    void keyIsInNoText(TestKeelson keelson) {
        application(keelson).run(context -> assertThat(context.getBean(KeelsonProperties.class).toString())
                .contains(keelson.url()).doesNotContain(keelson.apiKey()));
    }

    static class SameName {
        @KeelsonTool("spring.greet")
        void greet() {}
    }

    @Test
    void nameOfTwoToolsEndsTheStart(TestKeelson keelson) {
        application(keelson).withBean(Tools.class).withBean(SameName.class)
                .run(context -> assertThat(context).getFailure()
                        .hasMessageContaining("two methods are the tool spring.greet"));
    }
}
