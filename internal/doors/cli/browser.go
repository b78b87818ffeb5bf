package cli

import "github.com/spf13/cobra"

func newBrowser(r *run) *cobra.Command {
	return newGroup("browser", "Let agents use the tools of pages that are open in your browser",
		r.newToolCommand(&cobra.Command{
			Use: "list", Short: "List the browsers that listen, and their pages with tools",
			Args: unknownCommandArgs,
		}, toolCommand{tool: "browsers", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "connect <profile>", Short: "Let agents use the tools of the pages of a browser, until it ends",
			Long: "A page can declare tools (WebMCP). While it is open, agents find them as an app, \"page:\" and the\n" +
				"page's origin, and you are asked about each tool. The browser must listen for DevTools: started with\n" +
				"--remote-debugging-port=0 and --user-data-dir, or switched on at chrome://inspect/#remote-debugging,\n" +
				"where the browser itself asks you at each connection.",
			Example: "  aai-gateway browser connect ~/agent-profile",
		}, toolCommand{tool: "browser_connect", operands: "browser", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "disconnect <profile>", Short: "Take a browser away from agents",
		}, toolCommand{tool: "browser_disconnect", operands: "browser", show: showText}),
	)
}
