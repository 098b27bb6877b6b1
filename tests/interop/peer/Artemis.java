import java.nio.file.Path;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * Artemis with AMQP, MQTT and STOMP on the given ports, no passwords, in the given folder. Prints
 * "ready", and ends with its standard input.
 *
 * <p>Arguments: folder, AMQP port, MQTT port, STOMP port.
 */
public final class Artemis {
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Configuration configuration = new ConfigurationImpl()
        .setSecurityEnabled(false)
        .setPersistenceEnabled(true)
        .setJournalType(JournalType.NIO)
        .setJournalDirectory(folder.resolve("journal").toString())
        .setBindingsDirectory(folder.resolve("bindings").toString())
        .setLargeMessagesDirectory(folder.resolve("large").toString())
        .setPagingDirectory(folder.resolve("paging").toString())
        .setMaxDiskUsage(-1)
        .setMessageExpiryScanPeriod(100)
        .addAcceptorConfiguration("amqp", address(arguments[1], "AMQP"))
        .addAcceptorConfiguration("mqtt", address(arguments[2], "MQTT"))
        .addAcceptorConfiguration("stomp", address(arguments[3], "STOMP"));
    AddressSettings everywhere = new AddressSettings()
        .setAutoCreateQueues(true)
        .setAutoCreateAddresses(true)
        .setDefaultQueueRoutingType(org.apache.activemq.artemis.api.core.RoutingType.ANYCAST)
        .setDefaultAddressRoutingType(org.apache.activemq.artemis.api.core.RoutingType.ANYCAST)
        .setRedeliveryDelay(0)
        .setMaxDeliveryAttempts(10);
    configuration.addAddressSetting("#", everywhere);
    EmbeddedActiveMQ server = new EmbeddedActiveMQ();
    server.setConfiguration(configuration);
    server.start();
    System.out.println("ready");
    System.out.flush();
    while (System.in.read() >= 0) {
      // Until whoever started it goes.
    }
    server.stop();
    System.exit(0);
  }

  private static String address(String port, String protocol) {
    return "tcp://127.0.0.1:" + port + "?protocols=" + protocol + "&amqpDuplicateDetection=true";
  }
}
