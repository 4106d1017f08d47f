package io.keelson.server.annex.s3;

import io.keelson.server.base.problem.StartupException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * Clients of a store. They send no checksums and chunked signatures that many compatible stores do not support, and bound every wait.
 *
 * @param requests sends requests
 * @param links signs links without a request
 */
record S3Clients(S3Client requests, S3Presigner links) implements AutoCloseable {

    static final String REGION_MISSING = "ARTIFACT_STORE_REGION_MISSING";

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(20);
    /** Time of one try: a part of 8 MiB at 0.3 MB/s. */
    private static final Duration TRY_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(90);
    private static final int MAX_TRIES = 5;
    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration MAX_DELAY = Duration.ofSeconds(3);

    /** @throws StartupException {@link #REGION_MISSING} */
    static S3Clients of(S3Settings settings) throws StartupException {
        Region region = region(settings);
        AwsCredentialsProvider credentials = credentials(settings.access().keys());
        S3Configuration style = S3Configuration.builder().pathStyleAccessEnabled(settings.access().pathStyle())
                .chunkedEncodingEnabled(false).build();
        S3ClientBuilder client = S3Client.builder().region(region).credentialsProvider(credentials)
                .serviceConfiguration(style)
                .httpClientBuilder(UrlConnectionHttpClient.builder().connectionTimeout(CONNECT_TIMEOUT)
                        .socketTimeout(SOCKET_TIMEOUT))
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .overrideConfiguration(calls -> calls.apiCallAttemptTimeout(TRY_TIMEOUT).apiCallTimeout(CALL_TIMEOUT)
                        .retryStrategy(AwsRetryStrategy.standardRetryStrategy().toBuilder().maxAttempts(MAX_TRIES)
                                .backoffStrategy(BackoffStrategy.exponentialDelay(FIRST_DELAY, MAX_DELAY)).build()));
        S3Presigner.Builder links = S3Presigner.builder().region(region).credentialsProvider(credentials)
                .serviceConfiguration(style);
        if (settings.access().endpoint() != null) {
            client.endpointOverride(settings.access().endpoint());
            links.endpointOverride(settings.access().endpoint());
        }
        return new S3Clients(client.build(), links.build());
    }

    private static Region region(S3Settings settings) throws StartupException {
        if (settings.access().region() != null) {
            return Region.of(settings.access().region());
        }
        if (settings.access().endpoint() != null) {
            return Region.US_EAST_1;
        }
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException e) {
            throw new StartupException(REGION_MISSING, "The region of " + settings.location()
                    + " is unknown: set KEELSON_S3_REGION, or KEELSON_S3_ENDPOINT for another store than Amazon's.", e);
        }
    }

    private static AwsCredentialsProvider credentials(S3Settings.@Nullable Keys keys) {
        return keys == null ? DefaultCredentialsProvider.builder().build()
                : StaticCredentialsProvider.create(AwsBasicCredentials.create(keys.id(), keys.secret()));
    }

    @Override
    public void close() {
        requests.close();
        links.close();
    }
}
