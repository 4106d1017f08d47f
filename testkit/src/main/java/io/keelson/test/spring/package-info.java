/**
 * Tests of applications with {@code keelson-spring-boot-starter}: a {@link io.keelson.test.TestKeelson} as a bean, and a slice with
 * the application's tools. The packages of Spring Boot come from the application.
 */
@NullMarked
package io.keelson.test.spring;

import org.jspecify.annotations.NullMarked;
