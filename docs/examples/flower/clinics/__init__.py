"""Flower app: ten clinics train a model and evaluate it by the AUC of all patients."""
