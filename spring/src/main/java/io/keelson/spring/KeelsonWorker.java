package io.keelson.spring;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.worker.AgentHandler;
import io.keelson.client.worker.Worker;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * The worker of an application. It serves the methods with {@link KeelsonTool} and the bean {@link AgentHandler}, from the start
 * of the context to its end. An application without tools has no worker.
 */
public final class KeelsonWorker implements SmartInitializingSingleton, SmartLifecycle {
    /** After all other beans have started, and before the web server stops. */
    private static final int PHASE = DEFAULT_PHASE - 256;
    private static final Logger LOG = LoggerFactory.getLogger(KeelsonWorker.class);
    private static final String TURN = "agent.turn";

    private final Keelson client;
    private final KeelsonProperties.WorkerProperties settings;
    private final ConfigurableListableBeanFactory beans;
    private final Map<String, BeanTool> tools = new LinkedHashMap<>();
    private volatile @Nullable Worker worker;

    KeelsonWorker(Keelson client, KeelsonProperties.WorkerProperties settings, ConfigurableListableBeanFactory beans) {
        this.client = client;
        this.settings = settings;
        this.beans = beans;
    }

    /** Observes executions of steps. */
    @FunctionalInterface
    interface Observer {
        /** Executes the work, and observes its result. */
        <T> T observe(String tool, Callable<T> work) throws Exception;
    }

    /** The running worker; null before its start, and in an application without tools. */
    public @Nullable Worker worker() {
        return worker;
    }

    /** The tools of the application's methods. */
    public Set<String> tools() {
        return Set.copyOf(tools.keySet());
    }

    /** Finds the tools, when all beans are defined. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
            if (type != null && !name.startsWith("scopedTarget.")
                    && !type.getName().startsWith("org.springframework.")) {
                methods(ClassUtils.getUserClass(type))
                        .forEach((method, tool) -> add(method, tool, name));
            }
        }
    }

    private static Map<Method, KeelsonTool> methods(Class<?> type) {
        return MethodIntrospector.selectMethods(type,
                (MethodIntrospector.MetadataLookup<KeelsonTool>) method -> AnnotatedElementUtils
                        .findMergedAnnotation(method, KeelsonTool.class));
    }

    private void add(Method method, KeelsonTool tool, String bean) {
        String name = String.valueOf(beans.resolveEmbeddedValue(tool.value()));
        if (tools.put(name, new BeanTool(name, method, () -> beans.getBean(bean))) != null) {
            throw new IllegalStateException("two methods are the tool " + name + "; one of them is " + method);
        }
    }

    @Override
    public void start() {
        List<AgentHandler> agents = beans.getBeanProvider(AgentHandler.class).orderedStream().toList();
        List<KeelsonWorkerCustomizer> customizers =
                beans.getBeanProvider(KeelsonWorkerCustomizer.class).orderedStream().toList();
        if (tools.isEmpty() && agents.isEmpty() && customizers.isEmpty()) {
            return;
        }
        if (agents.size() > 1) {
            throw new IllegalStateException("a worker has one AgentHandler, and there are " + agents.size()
                    + " beans; decide by turn.agent() in one of them");
        }
        Observer observer = beans.getBeanProvider(Observer.class).getIfAvailable(() -> new Observer() {
            @Override
            public <T> T observe(String tool, Callable<T> work) throws Exception {
                return work.call();
            }
        });
        Worker.Builder builder = Worker.builder(client).slots(settings.slots()).lease(settings.lease())
                .poll(settings.poll()).grace(settings.grace());
        if (settings.id() != null) {
            builder.id(settings.id());
        }
        if (settings.version() != null) {
            builder.version(settings.version());
        }
        tools.forEach((name, tool) -> builder.tool(tool.spec(),
                step -> observer.observe(name, () -> tool.handle(step))));
        agents.forEach(agent -> builder.agent(turn -> observer.observe(TURN, () -> agent.take(turn))));
        customizers.forEach(each -> each.customize(builder));
        Worker started = builder.build();
        announce(started);
        worker = started.start();
        keepAlive(started);
    }

    /** Has missions of the application find its tools at once. An answer that no later call changes ends the start. */
    private static void announce(Worker worker) {
        try {
            worker.register();
        } catch (KeelsonException e) {
            if (!e.isTransient()) {
                throw e;
            }
            LOG.warn("the worker starts without its server: {}", e.getMessage());
        }
    }

    /** Keeps the JVM alive, because the threads of a worker do not. */
    private static void keepAlive(Worker worker) {
        Thread thread = new Thread(() -> {
            try {
                worker.awaitStop();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "keelson-worker");
        thread.setDaemon(false);
        thread.start();
    }

    /** Ends claims, and waits for the steps that are being executed. */
    @Override
    public void stop() {
        Worker running = worker;
        if (running != null) {
            running.close();
            worker = null;
        }
    }

    /** Lets other beans of the phase stop meanwhile. */
    @Override
    public void stop(Runnable callback) {
        new Thread(() -> {
            try {
                stop();
            } finally {
                callback.run();
            }
        }, "keelson-stop").start();
    }

    @Override
    public boolean isRunning() {
        return worker != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
