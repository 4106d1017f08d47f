/** Routes of commands to external systems, orders, deployments and webhooks. */
@NullMarked
package io.keelson.server.api.http.commands;

import org.jspecify.annotations.NullMarked;
