import java.awt.*;
import java.nio.file.*;
import javax.swing.*;
public class Order {
	public static void main(String[] args) {
		SwingUtilities.invokeLater(() -> {
			JTextField name = new JTextField(12);
			JLabel label = new JLabel("Name"), status = new JLabel("ready");
			label.setLabelFor(name);
			JButton save = new JButton("Save");
			save.addActionListener(e -> {
				status.setText("saved " + name.getText());
				try { Files.writeString(Path.of(args[0]), name.getText()); } catch (java.io.IOException x) { throw new RuntimeException(x); }
			});
			JFrame window = new JFrame("Order");
			window.setLayout(new FlowLayout());
			for (Component c : new Component[]{label, name, save, status}) window.add(c);
			window.pack();
			window.setVisible(true);
		});
	}
}
