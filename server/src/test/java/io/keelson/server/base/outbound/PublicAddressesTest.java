package io.keelson.server.base.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressesTest {

    @ParameterizedTest
    @ValueSource(strings = {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
            "198.17.255.255", "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808",
            "::ffff:8.8.8.8"})
    void areConnectedTo(String address) throws Exception {
        assertThat(PublicAddresses.contains(InetAddress.getByName(address))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1",
            "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.169.254", "192.0.0.8", "192.0.2.1", "198.18.0.1",
            "198.19.255.255", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1",
            "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::",
            "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::ffff:127.0.0.1", "::7f00:1", "100::1",
            "3fff::1"})
    void areNot(String address) throws Exception {
        assertThat(PublicAddresses.contains(InetAddress.getByName(address))).isFalse();
    }
}
