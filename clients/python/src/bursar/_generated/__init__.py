"""The part that follows from the OpenAPI document.

Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.
"""
