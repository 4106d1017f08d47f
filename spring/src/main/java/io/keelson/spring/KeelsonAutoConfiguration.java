package io.keelson.spring;

import io.keelson.client.Keelson;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A client and a worker of Keelson, with their health and metrics where the application has these parts of Spring Boot. */
@AutoConfiguration(
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@EnableConfigurationProperties(KeelsonProperties.class)
public final class KeelsonAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Keelson keelson(KeelsonProperties properties) {
        return Keelson.builder(properties.over(System.getenv())).timeout(properties.timeout()).build();
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty(name = "keelson.worker.enabled", matchIfMissing = true)
    KeelsonWorker keelsonWorker(Keelson client, KeelsonProperties properties, ConfigurableListableBeanFactory beans) {
        return new KeelsonWorker(client, properties.worker(), beans);
    }

    /** Metrics of the worker. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    static class Metrics {
        @Bean
        WorkerMetrics keelsonWorkerMetrics(MeterRegistry registry, KeelsonProperties properties) {
            return new WorkerMetrics(registry, properties.worker().slots());
        }
    }

    /** Health of the connection and the worker. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    @ConditionalOnEnabledHealthIndicator("keelson")
    static class HealthOfKeelson {
        @Bean
        KeelsonHealthIndicator keelsonHealthIndicator(Keelson client, ObjectProvider<KeelsonWorker> worker) {
            return new KeelsonHealthIndicator(client, worker.getIfAvailable());
        }
    }
}
