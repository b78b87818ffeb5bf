package child

// confine does nothing: the parent puts the process into a job object with limits before it sends
// the job.
func confine(int) error { return nil }
