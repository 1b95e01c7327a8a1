// One program for a node: kubelet, kube-scheduler and kube-proxy. Which one it is says its first argument.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	var command *cobra.Command
	if len(os.Args) > 1 {
		os.Args = os.Args[1:]
	}
	switch os.Args[0] {
	case "kubelet":
		command = kubelet.NewKubeletCommand(context.Background())
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	case "kube-proxy":
		command = proxy.NewProxyCommand()
	default:
		fmt.Fprintln(os.Stderr, "usage: node kubelet|kube-scheduler|kube-proxy [flags]")
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
