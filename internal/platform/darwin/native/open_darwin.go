package native

func libraries() ([]uintptr, error) {
	const frameworks = "/System/Library/Frameworks/"
	return open(
		frameworks+"CoreFoundation.framework/CoreFoundation",
		frameworks+"ApplicationServices.framework/ApplicationServices",
		frameworks+"CoreGraphics.framework/CoreGraphics",
		"/usr/lib/libSystem.B.dylib",
	)
}
