complete --keep-order --exclusive --command spark-tool --arguments "(COMPLETE=fish spark-tool -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
