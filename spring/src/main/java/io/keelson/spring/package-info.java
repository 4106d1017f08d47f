/**
 * Spring Boot starter: a client and a worker of Keelson in an application. {@link io.keelson.spring.KeelsonAutoConfiguration}
 * creates them from {@code keelson.*}; methods with {@link io.keelson.spring.KeelsonTool} are the worker's tools.
 */
@NullMarked
package io.keelson.spring;

import org.jspecify.annotations.NullMarked;
