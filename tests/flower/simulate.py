"""Run one round of the example app in Flower's simulation: ``python simulate.py APP FOLDER``.

The simulation runs in a process of its own, because Ray leaves processes and open files behind.
"""

import sys

from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

if __name__ == "__main__":
    app_folder, results = sys.argv[1:]
    sys.path.insert(0, app_folder)
    from clinics import client_app, server_app, task

    app = ServerApp()

    @app.main()
    def main(grid, context):
        server_app.save(*server_app.run(grid, task.NAMES, num_rounds=1), results)

    run_simulation(app, client_app.app, num_supernodes=len(task.NAMES))
