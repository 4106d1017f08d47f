package io.keelson.test.spring;

import io.keelson.client.Keelson;
import io.keelson.test.TestKeelson;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** The server of a context. {@code keelson.test.settings.KEELSON_…} are its settings. */
@AutoConfiguration(beforeName = "io.keelson.spring.KeelsonAutoConfiguration")
public final class TestKeelsonAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    TestKeelson testKeelson(Environment environment) {
        Map<String, String> settings = Binder.get(environment)
                .bind("keelson.test.settings", Bindable.mapOf(String.class, String.class)).orElseGet(HashMap::new);
        return TestKeelson.open(settings);
    }

    @Bean
    @ConditionalOnMissingBean
    Keelson keelson(TestKeelson kit) {
        return kit.client();
    }
}
