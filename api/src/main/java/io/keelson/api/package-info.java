/**
 * The contract of the HTTP API, for the server, the client and the command line alike: a record per request and answer,
 * in one package per resource. The component names are the members' names in camel case, in the order in which the
 * server writes them. The schemas of the OpenAPI description are generated from the records and their javadoc; {@link
 * io.keelson.api.Shape} has the annotations for constraints that a Java type cannot express.
 *
 * <p>A component that is not {@code @Nullable} is in every answer. A {@code @Nullable} component is null in some
 * answers, unless {@code @JsonInclude(NON_NULL)} omits it instead. A component with {@link
 * io.keelson.api.Shape.Omittable} is absent in some answers. Words such as states are strings, so that a client reads
 * the words that a newer server adds.
 */
@NullMarked
package io.keelson.api;

import org.jspecify.annotations.NullMarked;
